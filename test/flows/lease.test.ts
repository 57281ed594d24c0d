import { expect, test } from 'bun:test'
import { diagnose } from '../../src/operator/doctor/diagnose.ts'
import { readStatus } from '../../src/operator/status.ts'
import { HeldGrant } from '../support/held-grant.ts'
import { ConfirmedReplica } from '../support/held-replica.ts'
import { startReceiver } from '../support/receiver.ts'
import { listenTo } from '../support/socket.ts'
import { FROM, TO, type World, createWorld, until } from '../support/world.ts'

const sentTexts = (world: World): unknown[] => world.control.messages({ direction: 'Outbound' }).map(({ text }) => text)

const untilListed = (world: World, direction: 'inbound' | 'outbound'): Promise<boolean> =>
  until(async () => {
    const { body } = await world.json<{ total: number }>('GET', `/v1/sms/messages?direction=${direction}`)
    return body.total > 0
  })

test('without a lease that was renewed lately no message is sent, and with the next renewal it is, once', async () => {
  const lease = new HeldGrant()
  await using world = await createWorld({ lease })
  lease.hold()
  const messageId = await world.send({ body: 'held' })
  await until(() => lease.waited > 0)
  expect([sentTexts(world), (await world.status(messageId))['status']]).toEqual([[], 'sending'])
  lease.grant()
  expect(await world.untilStatus(messageId)).toMatchObject({ status: 'sent' })
  expect(sentTexts(world)).toEqual(['held'])
})

test('without such a lease no webhook is posted', async () => {
  const lease = new HeldGrant()
  await using receiver = startReceiver()
  await using world = await createWorld({ lease })
  await world.secondApp(receiver.url)
  lease.hold()
  await world.control.injectSms({ from: TO, to: FROM, text: 'Question' })
  await until(() => lease.waited > 0)
  await untilListed(world, 'inbound')
  expect(receiver.requests).toEqual([])
  lease.grant()
  await receiver.received(1)
})

test('a message is neither answered nor sent, and no event is published, before the check that follows its upload', async () => {
  const replica = new ConfirmedReplica()
  await using world = await createWorld({ replica })
  await using socket = await listenTo(world.url, { apiKey: world.key })
  replica.confirmation.hold()
  let isAnswered = false
  const answer = world.send({ body: 'checked' }).finally(() => (isAnswered = true))
  await until(() => replica.confirmation.asked > 0)
  await untilListed(world, 'outbound')
  expect([isAnswered, sentTexts(world), socket.messages.length]).toEqual([false, [], 1])
  replica.confirmation.release()
  const messageId = await answer
  expect(await world.untilStatus(messageId)).toMatchObject({ status: 'sent' })
  expect((await socket.received(2))[1]).toMatchObject({ type: 'sms_status', messageId, status: 'queued' })
})

test('status and metrics say which lease is held, and the doctor tries the storage', async () => {
  await using world = await createWorld({ lease: new HeldGrant(), env: { ADMIN_PORT: '0' } })
  const metrics = await (await fetch(`${world.running.adminUrl}/metrics`)).text()
  expect(metrics).toContain('sgw_lease_epoch 1\n')
  expect(metrics).toContain('sgw_lease_age_seconds 0.25\n')
  expect((await readStatus(world.gateway)).ha).toEqual({
    role: 'active',
    epoch: 1,
    holder: 'one:3000',
    leaseAgeMs: 250,
    storedLagMs: null,
  })
  expect(await diagnose(world.gateway)).toContainEqual({ check: 'lease', ok: true, level: 'ok', detail: 'fit' })
})
