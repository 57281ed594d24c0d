import { expect, test } from 'bun:test'
import { setTenantStatus } from '../../../src/operator/tenants.ts'
import { manualClock } from '../../support/manual-clock.ts'
import { type World, createWorld, until } from '../../support/world.ts'

interface List {
  conversations: { lastMessage: { messageId: string; waiting?: { reason: string; until?: string } | null } }[]
}

const listed = async (world: World, query = '?include=delivery') =>
  (await world.json<List>('GET', `/v1/conversations${query}`)).body.conversations.map(({ lastMessage }) => lastMessage)

test('with include=delivery an outbound newest message says why it waits, as the list of messages and its timeline do', async () => {
  const clock = manualClock()
  await using world = await createWorld({ clock })
  const sendAt = new Date(clock.now() + 3_600_000).toISOString()
  await world.send({ to: '+15555550191', sendAt })
  const headers = { 'retry-after': '60' }
  world.control.fault({ route: 'sms', calls: 1, fault: { kind: 'respond', status: 429, headers } })
  const paused = await world.send({ to: '+15555550192' })
  await until(async () => (await listed(world))[0]?.waiting?.reason === 'provider_paused')
  const [waiting, scheduled] = (await listed(world)).map((message) => message.waiting)
  expect(scheduled).toEqual({ reason: 'scheduled', until: sendAt })
  expect(waiting).toMatchObject({ reason: 'provider_paused' })
  const { body } = await world.json<{ messages: { waiting: unknown }[] }>('GET', '/v1/sms/messages?include=delivery')
  expect(body.messages.map((message) => message.waiting)).toEqual([waiting, scheduled])
  const timeline = await world.json<{ waiting: unknown }>('GET', `/v1/sms/${paused}/timeline`)
  expect(timeline.body.waiting).toEqual(waiting)
  expect((await listed(world, ''))[0]).not.toHaveProperty('waiting')
  await setTenantStatus(world.gateway, { tenantId: world.tenantId, status: 'suspended' })
  const key = await world.json<{ error: string }>('GET', '/v1/conversations?include=delivery')
  expect([key.status, key.body.error]).toEqual([403, 'Tenant suspended or inactive'])
})

test('a newest message that was sent waits for nothing, and one that came in has no such member', async () => {
  await using world = await createWorld()
  const sent = await world.send({ to: '+15555550191' })
  await world.untilStatus(sent)
  expect((await listed(world))[0]).toMatchObject({ messageId: sent, waiting: null })
  await world.control.injectSms({ from: '+15555550191', to: '+15555550100', text: 'Hi' })
  await until(async () => (await listed(world))[0]?.messageId !== sent)
  expect((await listed(world))[0]).not.toHaveProperty('waiting')
})
