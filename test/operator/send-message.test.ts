import { expect, test } from 'bun:test'
import { operate } from '../support/operator.ts'
import { FROM, TO, type World, createWorld } from '../support/world.ts'

/** Sends as `sgw send` does. Returns the app that the message belongs to, or why it was refused. */
async function senderOf(world: World, from: string, appId?: string): Promise<unknown> {
  const sent = await operate(world, 'POST', '/v1/operator/send', { message: { from, to: TO, body: 'Hello' }, appId })
  if (sent.status !== 200) return sent.body['error']
  const args = [String(sent.body['messageId'])]
  const { rows } = await world.gateway.database.gate.execute({ sql: 'SELECT app_id FROM messages WHERE id = ?1', args })
  return rows[0]?.['app_id']
}

test('without an app, the operator sends for the oldest active app of the tenant that has the number', async () => {
  await using world = await createWorld({ work: false })
  const second = await world.secondApp()
  await world.secondApp()
  expect(await senderOf(world, FROM)).toBe(world.app.appId)
  expect(await senderOf(world, FROM, second.appId)).toBe(second.appId)
  await operate(world, 'POST', `/v1/operator/apps/${world.app.appId}/deactivate`)
  expect(await senderOf(world, FROM)).toBe(second.appId)
  expect(await senderOf(world, FROM, world.app.appId)).toBe(`There is no active app ${world.app.appId}`)
  expect(await senderOf(world, '+15555550177')).toStartWith('No tenant with an active app has +15555550177 connected')
})

test('of several tenants that have the number, the operator must name an app', async () => {
  await using world = await createWorld({ work: false })
  const other = await world.otherTenant()
  await world.connect({ tenantId: other.tenantId })
  expect(await senderOf(world, FROM)).toBe(`Several tenants own ${FROM}: name the app with --app APP`)
  expect(await senderOf(world, FROM, other.appId)).toBe(other.appId)
  await operate(world, 'PUT', `/v1/operator/tenants/${other.tenantId}`, { status: 'suspended' })
  expect(await senderOf(world, FROM)).toBe(world.app.appId)
})
