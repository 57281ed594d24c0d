import { expect, test } from 'bun:test'
import { setTenantStatus } from '../../../src/operator/tenants.ts'
import { type World, createWorld } from '../../support/world.ts'

const set = (world: World, status: 'active' | 'suspended'): Promise<unknown> =>
  setTenantStatus(world.gateway, { tenantId: world.tenantId, status })

const stored = async (world: World, messageId: string): Promise<unknown> =>
  (await world.gateway.database.gate.execute({ sql: 'SELECT status FROM messages WHERE id = ?1', args: [messageId] }))
    .rows[0]?.['status']

test('a suspended tenant’s queued messages are held, and sent when it is active again', async () => {
  await using world = await createWorld({ work: false })
  const id = await world.send()
  await set(world, 'suspended')
  world.control.clearRequests()
  world.running.work()
  const other = await world.otherTenant()
  await world.connect({ tenantId: other.tenantId })
  const theirs = await world.send({ body: 'theirs' }, { key: other.apiKey })
  for (let state = ''; state !== 'sent';) state = String((await world.status(theirs, { key: other.apiKey }))['status'])
  expect(await stored(world, id)).toBe('queued')
  await set(world, 'active')
  expect(await world.untilStatus(id)).toMatchObject({ status: 'sent' })
})

test('a deactivated app’s accepted messages are still sent', async () => {
  await using world = await createWorld({ work: false })
  const second = await world.secondApp()
  const id = await world.send({}, { key: second.apiKey })
  expect((await world.call('DELETE', `/v1/apps/${second.appId}`, { key: second.apiKey })).status).toBe(200)
  world.running.work()
  expect(await world.untilStatus(id)).toMatchObject({ status: 'sent' })
})
