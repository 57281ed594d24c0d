import { expect, test } from 'bun:test'
import { FROM, createWorld } from '../../support/world.ts'

/**
 * Connects an extension and loads its token. `call` returns the result of a call, and `calls` counts the calls to the
 * provider.
 */
async function readySession() {
  const world = await createWorld()
  const { directory, tokens, extensionCalls, quota } = world.gateway
  await world.untilStatus(await world.send({ from: FROM, body: 'first' }))
  const [extension] = world.control.extensions()
  const key = { tenantId: world.tenantId, extensionId: extension?.extensionId ?? '' }
  const seen = { calls: 0 }
  const call = () =>
    extensionCalls.make(key, 'medium', async () => {
      seen.calls++
      return { ok: true, value: 'called' }
    })
  const become = async (status: string): Promise<void> => {
    await world.gateway.database.gate.execute({ sql: 'UPDATE extensions SET status = ?1', args: [status] })
    directory.forget(world.tenantId)
    await directory.tenant(world.tenantId)
  }
  await tokens.access(key)
  return { world, key, tokens, quota, seen, call, become }
}

test('a known token is used at once, but not during a pause that the provider requested', async () => {
  const { world, key, tokens, quota, seen, call } = await readySession()
  await using _ = world
  expect(tokens.known(key)).toMatchObject({ type: 'token' })
  expect(await call()).toEqual({ type: 'ok', value: 'called' })
  quota.pause(key.extensionId, 'medium', 60_000)
  expect(await call()).toMatchObject({ type: 'deferred' })
  expect(seen.calls).toBe(1)
})

test.each([
  ['revoked', 'gone'],
  ['refresh_failed', 'deferred'],
])('a good token of an extension that is %s is not used', async (status, outcome) => {
  const { world, key, tokens, seen, call, become } = await readySession()
  await using _ = world
  const later = Date.now() + 3_600_000
  await world.gateway.database.gate.execute({ sql: 'UPDATE extensions SET next_refresh_at = ?1', args: [later] })
  await become(status)
  expect(tokens.known(key)).toBeNull()
  expect(await call()).toMatchObject({ type: outcome })
  expect(seen.calls).toBe(0)
})

test('the token of another tenant is not used', async () => {
  const { world, key, tokens } = await readySession()
  await using _ = world
  const { tenantId } = await world.otherTenant()
  expect(tokens.known({ ...key, tenantId })).toBeNull()
})
