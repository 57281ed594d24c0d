import { expect, test } from 'bun:test'
import { setTenantStatus } from '../../src/operator/tenants.ts'
import { operate } from '../support/operator.ts'
import { FROM_2, type World, createWorld } from '../support/world.ts'

const cancel = (world: World, wish: object) => operate(world, 'POST', '/v1/operator/messages/cancel', wish)

const inAnHour = (world: World): string => new Date(world.gateway.clock.now() + 3_600_000).toISOString()

const jobs = async ({ gateway }: World): Promise<unknown[]> =>
  (
    await gateway.database.gate.execute("SELECT kind, contact FROM jobs WHERE kind IN ('send', 'schedule')")
  ).rows.slice()

test.each(['suspended', 'inactive'] as const)(
  'what a tenant that is %s has waiting and scheduled never goes out once it is cancelled',
  async (status) => {
    await using world = await createWorld({ work: false })
    const { tenantId } = world
    const ids = [await world.send(), await world.send({ from: FROM_2 }), await world.send({ sendAt: inAnHour(world) })]
    world.control.clearRequests()
    await setTenantStatus(world.gateway, { tenantId, status })
    world.running.work()
    expect(await cancel(world, { tenantId, dryRun: true })).toEqual({ status: 200, body: { cancelled: 3, left: 0 } })
    expect(await jobs(world)).toHaveLength(3)
    expect(await cancel(world, { tenantId })).toEqual({ status: 200, body: { cancelled: 3, left: 0 } })
    expect(await jobs(world)).toEqual([])
    await setTenantStatus(world.gateway, { tenantId, status: 'active' })
    // It enters the queues behind them.
    await world.untilStatus(await world.send({ body: 'after' }), ['sent'])
    for (const id of ids)
      expect(await world.status(id)).toMatchObject({ status: 'failed', error: 'Cancelled before sending' })
    expect(world.control.messages({ direction: 'Outbound' }).map(({ text }) => text)).toEqual(['after'])
    expect(await cancel(world, { tenantId })).toEqual({ status: 200, body: { cancelled: 0, left: 0 } })
  },
)

test('a cancellation is narrowed by app and by state, and never reaches another tenant', async () => {
  await using world = await createWorld({ work: false })
  const { tenantId } = world
  const other = await world.otherTenant()
  const second = await world.secondApp()
  await world.send({}, { key: other.apiKey })
  for (const key of [world.key, second.apiKey]) {
    await world.send({}, { key })
    await world.send({ sendAt: inAnHour(world) }, { key })
  }
  const count = async (wish: object) => (await cancel(world, { tenantId, dryRun: true, ...wish })).body
  expect(await count({})).toEqual({ cancelled: 4, left: 0 })
  expect(await count({ appId: second.appId })).toEqual({ cancelled: 2, left: 0 })
  expect(await count({ state: 'waiting' })).toEqual({ cancelled: 2, left: 0 })
  expect(await count({ state: 'scheduled', appId: world.app.appId })).toEqual({ cancelled: 1, left: 0 })
  expect(await count({ appId: other.appId })).toEqual({ cancelled: 0, left: 0 })
  expect((await cancel(world, { tenantId, state: 'scheduled' })).body).toEqual({ cancelled: 2, left: 0 })
  expect(await count({})).toEqual({ cancelled: 2, left: 0 })
  expect((await cancel(world, { tenantId: other.tenantId, dryRun: true })).body).toEqual({ cancelled: 1, left: 0 })
})

test('named messages that are sent, or are just being sent, are left; an unknown one cancels none', async () => {
  await using world = await createWorld()
  const sent = await world.send()
  await world.untilStatus(sent)
  world.control.fault({ route: 'sms', fault: { kind: 'hang' } })
  const sending = await world.send({ from: FROM_2 })
  await world.untilStatus(sending, ['sending'])
  const scheduled = await world.send({ sendAt: inAnHour(world) })
  const unknown = { messageIds: [scheduled, 'msg_000000000000'] }
  expect(await cancel(world, unknown)).toEqual({ status: 404, body: { error: 'Message not found' } })
  const named = { messageIds: [sent, sending, scheduled, scheduled] }
  expect((await cancel(world, { ...named, dryRun: true })).body).toEqual({ cancelled: 1, left: 2 })
  expect((await cancel(world, named)).body).toEqual({ cancelled: 1, left: 2 })
  expect((await cancel(world, named)).body).toEqual({ cancelled: 0, left: 3 })
  expect((await cancel(world, { tenantId: world.tenantId })).body).toEqual({ cancelled: 0, left: 1 })
  expect(await world.status(scheduled)).toMatchObject({ error: 'Cancelled before sending' })
})

test('hundreds of messages are cancelled, and leave no job', async () => {
  await using world = await createWorld({ work: false })
  for (let count = 0; count < 220; count++) await world.send({ to: `+1555555${String(count).padStart(4, '0')}` })
  expect((await cancel(world, { tenantId: world.tenantId })).body).toEqual({ cancelled: 220, left: 0 })
  expect(await jobs(world)).toEqual([])
  world.running.work()
  await world.untilStatus(await world.send({ body: 'after' }), ['sent'])
  expect(world.control.messages({ direction: 'Outbound' }).map(({ text }) => text)).toEqual(['after'])
})

test('a wish that names neither messages nor a tenant is refused, and so is a value that cannot be', async () => {
  await using world = await createWorld({ work: false })
  await world.send()
  const refusals = [
    [{}, 400, 'Invalid tenantId format'],
    [{ appId: world.app.appId }, 400, 'Invalid tenantId format'],
    [{ tenantId: 'tenant_0000000000000000' }, 404, 'Tenant not found'],
    [{ tenantId: world.tenantId, appId: 'x' }, 400, 'Invalid appId format'],
    [{ tenantId: world.tenantId, state: 'failed' }, 400, 'Invalid state'],
    [{ messageIds: ['msg_X'] }, 400, 'Invalid messageId format'],
    [{ messageIds: Array(101).fill('msg_0123456789ab') }, 400, 'Invalid messageId format'],
  ] as const
  for (const [wish, status, error] of refusals) expect(await cancel(world, wish)).toEqual({ status, body: { error } })
  expect(await jobs(world)).toHaveLength(1)
})

test('an erasure that cancels deletes what waited and was scheduled, and leaves what is being sent', async () => {
  await using world = await createWorld()
  const person = '+15555550188'
  world.control.fault({ route: 'sms', fault: { kind: 'hang' } })
  await world.untilStatus(await world.send({ to: person }), ['sending'])
  await world.send({ to: person })
  await world.send({ to: person, sendAt: inAnHour(world) })
  const kept = await world.send({ sendAt: inAnHour(world) })
  const erase = (wish: object) => operate(world, 'POST', '/v1/operator/erase', { phone: person, ...wish })
  expect((await erase({ dryRun: true })).body).toMatchObject({ messages: 0, waiting: 3 })
  expect((await erase({ dryRun: true, cancel: true })).body).toMatchObject({ messages: 2, waiting: 1 })
  expect((await erase({})).body).toMatchObject({ messages: 0, waiting: 3 })
  expect((await erase({ cancel: true })).body).toMatchObject({ messages: 2, waiting: 1 })
  expect((await jobs(world)).filter((job) => JSON.stringify(job).includes(person))).toHaveLength(1)
  expect(await world.status(kept)).toMatchObject({ status: 'queued' })
  expect((await world.json('GET', '/v1/sms/messages')).body).toMatchObject({ total: 2 })
})
