import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expectError } from '../../support/expect-error.ts'
import { operate } from '../../support/operator.ts'
import { type World, createWorld } from '../../support/world.ts'

const quiet = { connect: false, work: false }
const REACHED = 'Tenant has reached its limit of 5 apps'
const limited = (folder?: string, max = '5'): Promise<World> =>
  createWorld({ ...quiet, env: { MAX_APPS_PER_TENANT: max }, ...(folder === undefined ? {} : { folder }) })

const register = (world: World, tenantId = world.tenantId): Promise<Response> =>
  world.call('POST', '/v1/apps/register', { body: { name: 'One more', tenantId } })

const count = async (world: World, what: string): Promise<number> =>
  Number((await world.gateway.database.gate.execute(`SELECT count(*) AS n FROM ${what}`)).rows[0]?.['n'])

test('twenty simultaneous requests create only as many apps as the limit allows; a deactivation makes room for another', async () => {
  await using world = await limited()
  const answers = await Promise.all(Array.from({ length: 20 }, () => register(world)))
  const created = answers.filter(({ status }) => status === 201)
  expect(created).toHaveLength(4)
  for (const answer of answers.filter(({ status }) => status !== 201)) await expectError(answer, 409, REACHED)
  expect(await count(world, `apps WHERE tenant_id = '${world.tenantId}'`)).toBe(5)
  const [first] = (await Promise.all(created.map((answer) => answer.json()))) as { appId: string; apiKey: string }[]
  await world.call('DELETE', `/v1/apps/${first?.appId ?? ''}`, { key: first?.apiKey ?? '' })
  expect((await register(world)).status).toBe(201)
  await expectError(await register(world), 409, REACHED)
})

test('the limit also applies if the operator creates or activates an app', async () => {
  await using world = await limited(undefined, '2')
  const second = await world.secondApp()
  const ofSecond = `/v1/operator/apps/${second.appId}`
  const reached = { status: 409, body: { error: 'Tenant has reached its limit of 2 apps' } }
  const input = { tenantId: world.tenantId, name: 'Third' }
  expect(await operate(world, 'POST', '/v1/operator/apps', input)).toEqual(reached)
  expect(await operate(world, 'POST', `${ofSecond}/deactivate`)).toMatchObject({ status: 200 })
  expect(await operate(world, 'POST', '/v1/operator/apps', input)).toMatchObject({ status: 201 })
  expect(await operate(world, 'POST', `${ofSecond}/activate`)).toEqual(reached)
  expect(await count(world, `apps WHERE id = '${second.appId}' AND is_active = 0`)).toBe(1)
})

test('the apps of one tenant do not count for another', async () => {
  await using world = await limited()
  await Promise.all(Array.from({ length: 6 }, () => register(world)))
  const stranger = await world.otherTenant()
  const answer = await world.call('POST', '/v1/apps/register', {
    key: stranger.apiKey,
    body: { name: 'Theirs', tenantId: stranger.tenantId },
  })
  expect(answer.status).toBe(201)
})

test('apps above the limit at a start keep working; only new apps are refused', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sgw-test-'))
  const keys: string[] = []
  {
    await using before = await limited(folder)
    for (let made = 0; made < 4; made++)
      keys.push(((await (await register(before)).json()) as { apiKey: string }).apiKey)
  }
  await using world = await limited(folder, '3')
  const [key = ''] = keys
  const { body } = await world.json<{ apps: { tenantId: string; isActive: boolean }[] }>('GET', '/v1/apps', { key })
  expect(body.apps.map(({ isActive }) => isActive)).toEqual([true, true, true, true, true])
  const tenantId = body.apps[0]?.tenantId ?? ''
  await expectError(
    await world.call('POST', '/v1/apps/register', { key, body: { name: 'Sixth', tenantId } }),
    409,
    'Tenant has reached its limit of 3 apps',
  )
  for (const one of keys) expect((await world.call('GET', '/v1/rc/status', { key: one })).status).toBe(200)
  rmSync(folder, { recursive: true })
})

test('the list is bounded: it has the active and the newest apps, oldest first', async () => {
  await using world = await limited()
  const { gate } = world.gateway.database
  await gate.execute({
    sql: `WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 5000)
      INSERT INTO apps (id, tenant_id, name, role, is_active, key_hash, key_prefix, webhook_secret, created_at, updated_at)
      SELECT printf('app_%016x', n), ?1, 'Ended', 'app', 0, 'hash ' || n, 'sgw_', 'sealed', n, n FROM n`,
    args: [world.tenantId],
  })
  const { body } = await world.json<{ apps: { appId: string; isActive: boolean; createdAt: string }[] }>(
    'GET',
    '/v1/apps',
  )
  expect(body.apps).toHaveLength(1001)
  expect(body.apps.filter(({ isActive }) => isActive).map(({ appId }) => appId)).toEqual([world.app.appId])
  expect(body.apps[0]?.appId).toBe(`app_${(4001).toString(16).padStart(16, '0')}`)
  const times = body.apps.map(({ createdAt }) => createdAt)
  expect(times).toEqual(times.toSorted())
})

test('an operator finds the apps that a key registered, and no answer names the key', async () => {
  await using world = await limited()
  const { appId } = (await (await register(world)).json()) as { appId: string }
  const list = (query: string) => operate<{ apps: object[] }>(world, 'GET', `/v1/operator/apps?${query}`)
  const registered = await list(`registeredBy=${world.app.appId}`)
  expect(registered).toMatchObject({ status: 200, body: { apps: [{ appId, tenantName: expect.any(String) }] } })
  expect((await list(`registeredBy=${appId}`)).body).toEqual({ apps: [] })
  expect((await list('registeredBy=nobody')).status).toBe(400)
  const ofTenant = (await list(`tenantId=${world.tenantId}`)).body
  expect(ofTenant.apps).toMatchObject([{ appId: world.app.appId }, { appId }])
  const own = await (await world.call('GET', '/v1/apps')).text()
  expect(JSON.stringify([registered.body, ofTenant]) + own).not.toContain('registeredBy')
})
