import { describe, expect, test } from 'bun:test'
import { type World, createWorld } from '../support/world.ts'
import { VICTIM_TEXT, type Victim, createVictim, rowsOf } from './two-tenants.ts'

// Every endpoint × every parameter for an id × {foreign, unknown, malformed}. A foreign id must get the same answer as
// an unknown one.

type Kind = 'messages' | 'apps' | 'triggers' | 'tenants'

interface IdParameter {
  name: string
  kind: Kind
  /** The answer to a malformed id. */
  malformed: { status: number; error?: string }
  /** In a query, an empty value counts as absent, and a broken escape is ordinary text. */
  inQuery?: boolean
  ask(world: World, id: string): Promise<Response>
}

const inPath = (
  name: string,
  kind: Kind,
  error: string,
  method: string,
  path: (id: string) => string,
  body?: unknown,
): IdParameter => ({
  name,
  kind,
  malformed: { status: 400, error },
  ask: (world, id) => world.call(method, path(encodeURIComponent(id)), body === undefined ? {} : { body }),
})

const inQuery = (name: string, kind: Kind, malformed: IdParameter['malformed'], path: string): IdParameter => ({
  name,
  kind,
  malformed,
  inQuery: true,
  ask: (world, id) => world.call('GET', `${path}${encodeURIComponent(id)}`),
})

const inRecovery = (name: 'appId' | 'triggerId', kind: Kind): IdParameter => ({
  name: `POST /v1/webhook-deliveries/recover ${name}`,
  kind,
  malformed: { status: 403, error: 'Forbidden' },
  inQuery: true,
  ask: (world, id) =>
    world.call('POST', '/v1/webhook-deliveries/recover', { body: { since: '2000-01-01', [name]: id } }),
})

const EMPTY = { status: 200 }
const badApp = 'Invalid appId format'
const badTrigger = 'Invalid triggerId format'
const triggerRetries = (id: string): string => `/v1/triggers/${id}/webhook-retries`

const ID_PARAMETERS: readonly IdParameter[] = [
  inPath('GET /v1/sms/status/{id}', 'messages', 'Invalid messageId format', 'GET', (id) => `/v1/sms/status/${id}`),
  inPath('GET /v1/sms/{id}/timeline', 'messages', 'Invalid messageId format', 'GET', (id) => `/v1/sms/${id}/timeline`),
  inPath('DELETE /v1/sms/{id}', 'messages', 'Invalid messageId format', 'DELETE', (id) => `/v1/sms/${id}`),
  inPath('PUT /v1/apps/{id} webhookUrl', 'apps', badApp, 'PUT', (id) => `/v1/apps/${id}`, {
    webhookUrl: 'http://127.0.0.1:9/mine',
  }),
  inPath('PUT /v1/apps/{id} isActive', 'apps', badApp, 'PUT', (id) => `/v1/apps/${id}`, { isActive: false }),
  inPath('PUT /v1/apps/{id} {}', 'apps', badApp, 'PUT', (id) => `/v1/apps/${id}`, {}),
  inPath('DELETE /v1/apps/{id}', 'apps', badApp, 'DELETE', (id) => `/v1/apps/${id}`),
  inPath('POST /v1/apps/{id}/rotate-key', 'apps', badApp, 'POST', (id) => `/v1/apps/${id}/rotate-key`),
  inPath(
    'POST /v1/apps/{id}/rotate-webhook-secret',
    'apps',
    badApp,
    'POST',
    (id) => `/v1/apps/${id}/rotate-webhook-secret`,
  ),
  inPath('POST /v1/apps/{id}/test-webhook', 'apps', badApp, 'POST', (id) => `/v1/apps/${id}/test-webhook`),
  inPath('GET /v1/apps/{id}/webhook-retries', 'apps', badApp, 'GET', (id) => `/v1/apps/${id}/webhook-retries`),
  inPath('PUT /v1/apps/{id}/webhook-retries', 'apps', badApp, 'PUT', (id) => `/v1/apps/${id}/webhook-retries`, {
    policy: 'short',
  }),
  inPath('GET /v1/apps/{id}/webhook-events', 'apps', badApp, 'GET', (id) => `/v1/apps/${id}/webhook-events`),
  inPath('PUT /v1/apps/{id}/webhook-events', 'apps', badApp, 'PUT', (id) => `/v1/apps/${id}/webhook-events`, {
    events: [],
  }),
  inPath('GET /v1/triggers/{id}/webhook-retries', 'triggers', badTrigger, 'GET', triggerRetries),
  inPath('PUT /v1/triggers/{id}/webhook-retries', 'triggers', badTrigger, 'PUT', triggerRetries, { policy: 'short' }),
  inRecovery('appId', 'apps'),
  inRecovery('triggerId', 'triggers'),
  inPath('DELETE /v1/triggers/{id}', 'triggers', 'Invalid triggerId format', 'DELETE', (id) => `/v1/triggers/${id}`),
  inQuery('GET /v1/sms/messages?appId', 'apps', EMPTY, '/v1/sms/messages?appId='),
  inQuery('GET /v1/usage?appId', 'apps', EMPTY, '/v1/usage?appId='),
  inQuery('GET /v1/sms/messages?tenantId', 'tenants', EMPTY, '/v1/sms/messages?tenantId='),
  inQuery('GET /v1/sms/messages?include&appId', 'apps', EMPTY, '/v1/sms/messages?include=delivery&appId='),
  inQuery(
    'GET /v1/webhook-deliveries?appId',
    'apps',
    { status: 403, error: 'Forbidden' },
    '/v1/webhook-deliveries?appId=',
  ),
  inQuery(
    'GET /v1/webhook-deliveries?triggerId',
    'triggers',
    { status: 403, error: 'Forbidden' },
    '/v1/webhook-deliveries?triggerId=',
  ),
  inQuery(
    'GET /v1/webhook-deliveries?messageId',
    'messages',
    { status: 400, error: 'Invalid messageId' },
    '/v1/webhook-deliveries?messageId=',
  ),
]

const PREFIX: Readonly<Record<Kind, string>> = { messages: 'msg_', apps: 'app_', triggers: 'trg_', tenants: 'tenant_' }
const digits = (kind: Kind): number => (kind === 'messages' ? 12 : 16)

const absentIds = (kind: Kind): string[] => ['0', '7', 'f'].map((digit) => PREFIX[kind] + digit.repeat(digits(kind)))

/** Returns spellings that resemble a real id of the victim, and values that are not ids. */
function malformedIds(kind: Kind, real: string): string[] {
  const bare = real.slice(PREFIX[kind].length)
  return [
    real.toUpperCase(),
    PREFIX[kind] + bare.toUpperCase().padEnd(bare.length, 'A').replace(/\d/g, 'A'),
    bare,
    `${real}0`,
    real.slice(0, -1),
    ` ${real}`,
    `${real} `,
    `${real}\n`,
    `${real}\0`,
    `${real}/`,
    `${real}%00`,
    `../${real}`,
    `${real}' OR '1'='1`,
    `${real}"--`,
    `${real},${real}`,
    `${real};`,
    `*`,
    '%',
    '_',
    '..',
    `${PREFIX[kind]}%`,
    `${PREFIX[kind]}${'_'.repeat(digits(kind))}`,
    `${PREFIX[kind]}${'٠'.repeat(digits(kind))}`,
    '[object Object]',
    '__proto__',
    'constructor',
    'null',
    'undefined',
    '0',
    'NaN',
  ]
}

const answerOf = async (response: Response): Promise<{ status: number; body: string }> => ({
  status: response.status,
  body: await response.text(),
})

const cases = new Map<string, number>()

describe('another tenant’s ids', () => {
  for (const parameter of ID_PARAMETERS) {
    test(parameter.name, async () => {
      await using world = await createWorld({ connect: false, work: false })
      const victim = await createVictim(world)
      const before = await rowsOf(world, victim.app.tenantId)
      cases.set(parameter.name, await compare(world, parameter, victim))
      expect(await rowsOf(world, victim.app.tenantId)).toEqual(before)
      expect((await world.call('GET', '/v1/apps')).status).toBe(200)
    })
  }

  test('are tested in at least 250 cases', () => {
    const total = [...cases.values()].reduce((sum, count) => sum + count, 0)
    console.log(`${total} cross-tenant cases`)
    expect(total).toBeGreaterThanOrEqual(250)
  })
})

/**
 * Expects equal answers to foreign and unknown ids, and the contract's answer to malformed ones. Returns the number of
 * cases.
 */
async function compare(world: World, parameter: IdParameter, victim: Victim): Promise<number> {
  const [absent, ...others] = await Promise.all(
    absentIds(parameter.kind).map(async (id) => answerOf(await parameter.ask(world, id))),
  )
  for (const other of others) expect(other).toEqual(absent!)
  expect(absent!.status).toBeOneOf([200, 403, 404])
  for (const id of victim[parameter.kind]) expect(await answerOf(await parameter.ask(world, id))).toEqual(absent!)
  const malformed = malformedIds(parameter.kind, victim[parameter.kind][0] ?? '')
  for (const id of malformed) await expectMalformed(world, parameter, id, absent!)
  return absentIds(parameter.kind).length + victim[parameter.kind].length + malformed.length
}

async function expectMalformed(
  world: World,
  parameter: IdParameter,
  id: string,
  absent: { status: number; body: string },
): Promise<void> {
  const answer = await answerOf(await parameter.ask(world, id))
  expect(answer.body).not.toContain(VICTIM_TEXT)
  // The client resolves `..` to another path, which is unknown or not allowed.
  const isOtherPath = parameter.inQuery !== true && id === '..'
  if (isOtherPath) return expect(answer.status).toBeOneOf([400, 404])
  const { status, error } = parameter.malformed
  expect({ id, status: answer.status }).toEqual({ id, status })
  expect(answer.body).toBe(error === undefined ? absent.body : JSON.stringify({ error }))
}

test('lists show nothing of another tenant, with any filter', async () => {
  await using world = await createWorld({ connect: false, work: false })
  const { cursor } = (await world.json<{ cursor: string }>('GET', '/v1/events')).body
  const victim = await createVictim(world)
  const filters = [
    '',
    '?userId=victim-user',
    '?direction=inbound',
    '?status=queued',
    '?status=failed',
    '?from=%2B15555550100',
    '?to=%2B15555550199',
    '?startDate=2000-01-01',
    '?limit=100&page=1',
  ]
  for (const filter of filters) {
    expect(await (await world.call('GET', `/v1/sms/messages${filter}`)).json()).toMatchObject({
      messages: [],
      total: 0,
    })
  }
  for (const filter of ['', '?kind=app', '?kind=trigger', '?outcome=success', '?startDate=2000-01-01']) {
    expect(await (await world.call('GET', `/v1/webhook-deliveries${filter}`)).json()).toMatchObject({
      attempts: [],
      total: 0,
    })
  }
  const begin = `/v1/events?limit=1000&after=${cursor}`
  expect(await (await world.call('GET', begin, { key: victim.app.apiKey })).json()).not.toMatchObject({ events: [] })
  expect(await (await world.call('GET', begin)).json()).toMatchObject({ events: [], gap: false })
  const shown = await Promise.all(
    [
      begin,
      '/v1/apps',
      '/v1/triggers',
      '/v1/rc/status',
      '/v1/rc/extensions',
      '/v1/rc/extensions/health',
      '/v1/me',
      '/v1/opt-outs',
      '/v1/conversations',
    ].map(async (path) => (await world.call('GET', path)).text()),
  )
  for (const id of Object.values(victim).flatMap((ids) => (Array.isArray(ids) ? ids : [])))
    expect(shown.join('\n')).not.toContain(id)
})

test('deliveries of another tenant can be neither redelivered nor recovered', async () => {
  await using world = await createWorld({ connect: false, work: false })
  const victim = await createVictim(world)
  const before = await rowsOf(world, victim.app.tenantId)
  const ids = await world.gateway.database.gate.execute({
    sql: 'SELECT delivery_id FROM webhook_attempts WHERE tenant_id = ?1',
    args: [victim.app.tenantId],
  })
  expect(ids.rows.length).toBeGreaterThan(0)
  for (const row of ids.rows) {
    const path = `/v1/webhook-deliveries/${encodeURIComponent(String(row['delivery_id']))}/redeliver`
    expect(await world.json('POST', path)).toEqual({ status: 404, body: { error: 'Delivery not found' } })
  }
  const everything = await world.json('POST', '/v1/webhook-deliveries/recover', { body: { since: '1970-01-01' } })
  expect(everything).toEqual({ status: 202, body: { scheduled: 0 } })
  expect(await rowsOf(world, victim.app.tenantId)).toEqual(before)
})

test('an Idempotency-Key of another tenant, or of another app of the tenant, has no effect', async () => {
  await using world = await createWorld({ connect: false, work: false })
  const victim = await createVictim(world)
  const headers = { 'idempotency-key': 'shared-key' }
  const mine = await world.send({ body: VICTIM_TEXT }, { headers })
  const second = await world.secondApp()
  const others = await world.send({ body: VICTIM_TEXT }, { headers, key: second.apiKey })
  expect(new Set([...victim.messages, mine, others]).size).toBe(victim.messages.length + 2)
})

test('register answers alike for an unknown and a suspended tenant, and with the contract’s 403 for an active one', async () => {
  await using world = await createWorld({ connect: false, work: false })
  const victim = await createVictim(world)
  const register = async (tenantId: string) =>
    answerOf(await world.call('POST', '/v1/apps/register', { body: { name: 'Mine', tenantId } }))
  // The contract distinguishes these two. An id has 64 random bits, so a caller cannot find one by guessing.
  expect(await register(victim.app.tenantId)).toEqual({ status: 403, body: '{"error":"Forbidden"}' })
  const absent = await register('tenant_0000000000000000')
  expect(absent).toEqual({ status: 400, body: '{"error":"Tenant not found or not active"}' })
  await world.gateway.database.writer.write([
    { sql: `UPDATE tenants SET status = 'suspended' WHERE id = ?1`, args: [victim.app.tenantId] },
  ])
  expect(await register(victim.app.tenantId)).toEqual(absent)
})

test('foreign and unknown ids take the same time: medians within 1 ms', async () => {
  await using world = await createWorld({ connect: false, work: false })
  const victim = await createVictim(world)
  const times: Record<'foreign' | 'absent', number[]> = { foreign: [], absent: [] }
  for (let round = 0; round < 300; round++) {
    for (const [name, id] of [
      ['foreign', victim.messages[0]],
      ['absent', 'msg_000000000000'],
    ] as const) {
      const startedAt = performance.now()
      await (await world.call('GET', `/v1/sms/status/${id}`)).text()
      times[name].push(performance.now() - startedAt)
    }
  }
  const median = (list: number[]): number => list.toSorted((a, b) => a - b)[list.length / 2] ?? 0
  expect(Math.abs(median(times.foreign) - median(times.absent))).toBeLessThan(1)
})
