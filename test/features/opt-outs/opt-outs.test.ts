import { expect, test } from 'bun:test'
import { listenTo } from '../../support/socket.ts'
import { FROM, FROM_2, TO, type World, createWorld, until } from '../../support/world.ts'

const put = (world: World, body: unknown, key = world.key) => world.json('PUT', '/v1/opt-outs', { body, key })
const list = async (world: World, query = '', key = world.key) =>
  (await world.json<{ optOuts: Record<string, unknown>[]; total: number }>('GET', `/v1/opt-outs${query}`, { key })).body
const OK = { status: 200, body: { ok: true } }
const BAD_JSON = { status: 400, body: { error: 'Invalid JSON' } }
const BAD_NUMBERS = { status: 400, body: { error: 'number and contact must be valid E.164 phone numbers' } }
const BAD_FLAG = { status: 400, body: { error: 'optedOut must be a boolean' } }

test('PUT opts out and in; each change is one event, a repetition none', async () => {
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

test('every field absent, null, of a wrong type, too long or hostile is refused by its own text', async () => {
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

test('the list is the latest first, by pages, filtered, and of the tenant alone', async () => {
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

test('a deep page skips entries of an index, and reads no rows but its own', async () => {
  await using world = await createWorld({ connect: false, work: false })
  const { gate } = world.gateway.database
  const asked: { sql: string; args: never }[] = []
  for (const name of ['execute', 'values'] as const) {
    const read = gate[name]
    gate[name] = (statement: never) => {
      if (JSON.stringify(statement).includes('opt_outs')) asked.push(statement)
      return read(statement) as never
    }
  }
  for (const query of ['', `&number=%2B${FROM.slice(1)}`, `&contact=%2B${TO.slice(1)}`])
    await list(world, `?page=500${query}`)
  const plans = asked.map(({ sql, args }) => gate.execute({ sql: `EXPLAIN QUERY PLAN ${sql}`, args }))
  const steps = (await Promise.all(plans)).flatMap(({ rows }) => rows.map(({ detail }) => String(detail)))
  const reads = steps.filter((step) => step.includes('USING'))
  expect(reads.length).toBeGreaterThanOrEqual(6)
  const fine = /COVERING INDEX|INTEGER PRIMARY KEY|contact=\?|TEMP B-TREE/
  expect(reads.filter((step) => !fine.test(step))).toEqual([])
})

test('the policy is `observe` until somebody says otherwise, for the tenant alone', async () => {
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
