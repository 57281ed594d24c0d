import { expect, spyOn, test } from 'bun:test'
import { listenTo } from '../../support/socket.ts'
import { FROM, FROM_2, TO, type World, createWorld, until } from '../../support/world.ts'

const put = (world: World, body: unknown, key = world.key) => world.json('PUT', '/v1/opt-outs', { body, key })
const list = async (world: World, query = '', key = world.key) =>
  (await world.json<{ optOuts: Record<string, unknown>[]; total: number }>('GET', `/v1/opt-outs${query}`, { key })).body
const OK = { status: 200, body: { ok: true } }
const BAD_JSON = { status: 400, body: { error: 'Invalid JSON' } }
const BAD_NUMBERS = { status: 400, body: { error: 'number and contact must be valid E.164 phone numbers' } }
const BAD_FLAG = { status: 400, body: { error: 'optedOut must be a boolean' } }

test('PUT opts out and in; each change publishes one event, a repetition none', async () => {
  await using world = await createWorld({ connect: false })
  await using socket = await listenTo(world.url, { apiKey: world.key })
  const word = { number: FROM, contact: TO }
  for (const optedOut of [false, true, true, false, false, true])
    expect(await put(world, { ...word, optedOut })).toEqual(OK)
  await until(() => socket.ofType('opt_out').length >= 3)
  expect(socket.ofType('opt_out').map(({ optedOut, source }) => [optedOut, source])).toEqual([
    [true, 'api'],
    [false, 'api'],
    [true, 'api'],
  ])
  expect(await list(world)).toEqual({
    optOuts: [{ ...word, source: 'api', since: socket.ofType('opt_out')[2]?.['timestamp'] }],
    total: 1,
    page: 1,
    limit: 20,
  } as never)
})

test('with include=policy the list has the policy beside it, and without it no such field', async () => {
  await using world = await createWorld({ connect: false, work: false })
  expect(await list(world, '?include=policy')).toMatchObject({ optOuts: [], policy: 'observe', total: 0 })
  await world.call('PUT', '/v1/opt-outs/policy', { body: { policy: 'block' } })
  expect(await list(world, `?include=policy&contact=${encodeURIComponent(TO)}`)).toMatchObject({ policy: 'block' })
  expect(await list(world)).not.toHaveProperty('policy')
  const bad = await world.json('GET', '/v1/opt-outs?include=all')
  expect(bad).toEqual({ status: 400, body: { error: 'Invalid include' } })
})

test('a field that is absent, null, of a wrong type, too long or hostile is refused with its own error', async () => {
  await using world = await createWorld({ connect: false, work: false })
  const good = { number: FROM, contact: TO, optedOut: true }
  const bad = [
    undefined,
    null,
    1,
    '',
    'x',
    '+1',
    ' +15555550199',
    '+1555555019９',
    '+15555550199\n',
    [TO],
    { a: 1 },
    `+1${'5'.repeat(20)}`,
    "' OR 1=1 --",
  ]
  for (const value of bad) {
    expect([value, await put(world, { ...good, number: value })]).toEqual([value, BAD_NUMBERS])
    expect([value, await put(world, { ...good, contact: value, optedOut: 'x' })]).toEqual([value, BAD_NUMBERS])
  }
  for (const value of [undefined, null, 0, 1, 'true', '', [], {}])
    expect([value, await put(world, { ...good, optedOut: value })]).toEqual([value, BAD_FLAG])
  for (const body of ['', {}]) expect(await put(world, body)).toEqual(BAD_NUMBERS)
  for (const body of [[], 'null', '1', '"x"', '{']) expect(await put(world, body)).toEqual(BAD_JSON)
  expect(await list(world)).toMatchObject({ total: 0 })
})

test('the list is newest first, has pages and filters, and shows only the tenant’s opt-outs', async () => {
  await using world = await createWorld({ connect: false, work: false })
  const other = await world.otherTenant()
  for (let index = 0; index < 5; index++)
    await put(world, { number: index < 3 ? FROM : FROM_2, contact: `+1555555020${index}`, optedOut: true })
  await put(world, { number: FROM, contact: TO, optedOut: true }, other.apiKey)
  const contacts = async (query: string) =>
    (await list(world, query)).optOuts.map(({ contact }) => String(contact).at(-1))
  expect(await contacts('')).toEqual(['4', '3', '2', '1', '0'])
  expect(await contacts('?limit=2&page=2')).toEqual(['2', '1'])
  expect(await contacts(`?number=${FROM}`)).toEqual(['2', '1', '0'])
  expect(await contacts(`?number=${encodeURIComponent(FROM_2)}&contact=%2B15555550204`)).toEqual(['4'])
  expect(await contacts(`?contact=${encodeURIComponent(TO)}`)).toEqual([])
  expect(await list(world, `?number=${FROM}&limit=1`)).toMatchObject({ total: 3, page: 1, limit: 1 })
  expect(await list(world, '?limit=0&page=-1&number=&contact=')).toMatchObject({ total: 5, page: 1, limit: 1 })
  expect(await list(world, '', other.apiKey)).toMatchObject({ total: 1 })
})

test('a deep page skips index entries and reads only its own rows', async () => {
  await using world = await createWorld({ connect: false, work: false })
  const { gate } = world.gateway.database
  const reader = spyOn(world.gateway.database.reader, 'longRead')
  for (const query of ['', `&number=%2B${FROM.slice(1)}`, `&contact=%2B${TO.slice(1)}`])
    await list(world, `?page=500${query}`)
  const plans = reader.mock.calls.map(([, sql, args]) =>
    gate.execute({ sql: `EXPLAIN QUERY PLAN ${sql}`, args: [...args] }),
  )
  reader.mockRestore()
  const steps = (await Promise.all(plans)).flatMap(({ rows }) => rows.map(({ detail }) => String(detail)))
  const reads = steps.filter((step) => step.includes('USING'))
  expect(reads.length).toBeGreaterThanOrEqual(6)
  const fine = /COVERING INDEX|INTEGER PRIMARY KEY|contact=\?|TEMP B-TREE/
  expect(reads.filter((step) => !fine.test(step))).toEqual([])
})

test('a long list has every page', async () => {
  await using world = await createWorld({ connect: false, work: false })
  const { gateway, tenantId } = world
  const { gate } = gateway.database
  // Ten at a time have the same time, and every third one is of another number.
  await gate.execute({
    sql: `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)
      INSERT INTO opt_outs (id, tenant_id, number, contact, opted_out, source, since, decided_at, changed_by)
      SELECT 'opt_' || i, ?1, iif(i % 3, ?2, ?3), printf('+1555777%04d', i), 1, 'api', i / 10, 0, '' FROM n`,
    args: [tenantId, FROM, FROM_2],
  })
  for (const [query, of] of [
    ['', ''],
    [`&number=${encodeURIComponent(FROM_2)}`, `AND number = '${FROM_2}'`],
  ] as const) {
    const { rows } = await gate.execute(`SELECT contact FROM opt_outs WHERE true ${of} ORDER BY since DESC, seq DESC`)
    for (const page of [1, 7, 14, 20, 34, 50, 51]) {
      const found = await list(world, `?limit=100&page=${page}${query}`)
      expect(found.total).toBe(rows.length)
      expect(found.optOuts.map(({ contact }) => contact)).toEqual(
        rows.slice((page - 1) * 100, page * 100).map(({ contact }) => contact),
      )
    }
  }
  expect(await list(world, '?contact=%2B15557770005')).toMatchObject({
    total: 1,
    optOuts: [{ contact: '+15557770005' }],
  })
})

test('the default policy is `observe`, and a change applies only to the tenant', async () => {
  await using world = await createWorld({ connect: false, work: false })
  const other = await world.otherTenant()
  const policy = (key = world.key) => world.json('GET', '/v1/opt-outs/policy', { key })
  const observe = { status: 200, body: { policy: 'observe' } }
  expect(await policy()).toEqual(observe)
  for (const bad of [{}, { policy: null }, { policy: 1 }, { policy: 'Block' }, { policy: '' }, { policy: ['block'] }])
    expect(await world.json('PUT', '/v1/opt-outs/policy', { body: bad })).toEqual({
      status: 400,
      body: { error: 'Invalid policy' },
    })
  for (const bad of [[], 'null', '"block"', '{'])
    expect(await world.json('PUT', '/v1/opt-outs/policy', { body: bad })).toEqual(BAD_JSON)
  expect(await world.json('PUT', '/v1/opt-outs/policy', { body: { policy: 'block' } })).toEqual(OK)
  expect(await policy()).toEqual({ status: 200, body: { policy: 'block' } })
  expect(await policy(other.apiKey)).toEqual(observe)
})
