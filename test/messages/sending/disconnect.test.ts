import { expect, test } from 'bun:test'
import { disconnect } from '../../../src/api/rc/disconnect.ts'
import { holdCalls } from '../../support/held-calls.ts'
import { manualClock } from '../../support/manual-clock.ts'
import { createWorld, until } from '../../support/world.ts'

const NOT_CONNECTED = 'Telephony provider not connected for this tenant'

test('messages that wait for the end of a pause do not begin while their tenant is being disconnected', async () => {
  const clock = manualClock()
  await using world = await createWorld({ clock })
  const release = holdCalls(world, 'sendSms', 'under way')
  const underWay = await world.send({ body: 'under way' })
  await world.untilStatus(underWay, ['sending'])
  const { gateway, tenantId } = world
  const { extensionId = '' } = world.control.extensions()[0] ?? {}
  gateway.quota.pause(extensionId, 'medium', 400)
  const paused = await world.send({ body: 'paused', to: '+15555550198' })
  await until(() => gateway.sending.scheduler.extension(extensionId).queues.size > 0)
  let isDisconnected = false
  const disconnected = disconnect(gateway, { tenantId }).finally(() => (isDisconnected = true))
  clock.advance(400)
  // Whatever may begin after the pause has begun by then.
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
  release()
  await until(() => (clock.advance(50), isDisconnected))
  await disconnected
  expect(await world.untilStatus(underWay)).toMatchObject({ status: 'sent' })
  expect(await world.untilStatus(paused)).toMatchObject({ status: 'failed', error: NOT_CONNECTED })
})

test('after a disconnect that could not be stored, messages still end', async () => {
  await using world = await createWorld()
  const { gateway, tenantId } = world
  const { writer } = gateway.database
  const write = writer.write.bind(writer)
  let meanwhile = ''
  writer.write = async (statements) => {
    if (!statements.some(({ sql }) => sql.startsWith('delete from "extensions"'))) return write(statements)
    meanwhile = await world.send()
    // Waits until the scheduler has seen the message.
    for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve))
    throw Object.assign(new Error('database or disk is full'), { code: 'SQLITE_FULL' })
  }
  expect(await disconnect(gateway, { tenantId }).catch(String)).toContain('disk is full')
  writer.write = write
  // The provider has revoked the token already.
  expect(await world.untilStatus(meanwhile)).toMatchObject({ status: 'failed' })
})
