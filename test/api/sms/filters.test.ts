import { afterAll, beforeAll, expect, spyOn, test } from 'bun:test'
import { wordsOf } from '../../../src/api/fields/named-enums.ts'
import { refusalsOf } from '../../../src/api/http/validated.ts'
import { FailuresQuery } from '../../../src/api/sms/list-failures.ts'
import { FILTERS, MessagesQuery } from '../../../src/api/sms/messages-query.ts'
import { MESSAGE_FAILURES } from '../../../src/core/message-failure.ts'
import { sgwIn } from '../../support/cli.ts'
import { expectError } from '../../support/expect-error.ts'
import { openOperatorSocket } from '../../support/operator.ts'
import { FROM, FROM_2, TO, type World, createWorld, recordedLog } from '../../support/world.ts'

// Each filter of the messages has a row here, for which every test below asks. What one of them does beyond that has a test of its own.

interface Example {
  /** Values by which a message with the columns `finds` is found, and one with `not` is not. */
  asks: readonly string[]
  finds: Columns
  not: Columns
  /** Values that are refused; none if the filter takes any text. */
  wrong: readonly string[]
  /** The text of the refusal, if it is not `Invalid` and the name. */
  refusal?: string
  /** The option of `sgw messages list`, if it is not the name. */
  option?: string
  /** How SQLite finds the messages, if not in the index of all messages of a tenant. */
  plan?: string
}
type Columns = Readonly<Record<string, string | number>>

const TO_2 = '+15555550198'
const DAY = Date.parse('2026-11-20T00:00:00Z')
const BAD_NUMBERS = 'number and contact must be valid E.164 phone numbers'
const OF_TENANT = 'COVERING INDEX messages_by_tenant (tenant_id=?'
const OF_FAILED = 'INDEX messages_failed (tenant_id=?'

const EXAMPLES: Readonly<Record<Exclude<keyof typeof FILTERS, 'tenantId'>, Example>> = {
  appId: {
    asks: ['canary-app'],
    finds: { app_id: 'canary-app' },
    not: { app_id: 'canary' },
    wrong: [],
    option: '--app',
  },
  userId: {
    asks: ['Canary "user" % 1'],
    finds: { user_id: 'Canary "user" % 1' },
    not: { user_id: 'canary "user" % 1' },
    wrong: [],
  },
  direction: {
    asks: ['inbound'],
    finds: { direction: 'inbound' },
    not: { direction: 'outbound' },
    wrong: ['sideways', 'Outbound', ' outbound', 'outbound,inbound'],
  },
  status: {
    asks: ['received'],
    finds: { status: 'received' },
    not: { status: 'sent' },
    wrong: ['delivered', 'SENT', 'null'],
  },
  state: {
    asks: ['cancelled'],
    finds: { error_code: 'cancelled' },
    not: { error_code: 'expired' },
    wrong: ['Failed', 'sent', ' failed', 'failed,waiting', 'constructor'],
    plan: OF_FAILED,
  },
  failure: {
    asks: ['revoked'],
    finds: { error_code: 'revoked' },
    not: { error_code: 'expired' },
    wrong: ['Expired', 'failed', 'expired,revoked', ' expired', 'constructor'],
    plan: OF_FAILED,
  },
  from: {
    asks: [FROM_2, ` ${FROM_2.slice(1)}`],
    finds: { from_number: FROM_2 },
    not: { to_number: FROM_2 },
    wrong: [],
  },
  to: { asks: [TO_2, ` ${TO_2.slice(1)}`], finds: { to_number: TO_2 }, not: { from_number: TO_2 }, wrong: [] },
  number: {
    asks: [FROM_2, ` ${FROM_2.slice(1)}`],
    finds: { from_number: FROM_2 },
    not: { to_number: FROM_2 },
    wrong: ['5555550100', '72975'],
    refusal: BAD_NUMBERS,
  },
  contact: {
    asks: [TO_2, ` ${TO_2.slice(1)}`],
    finds: { to_number: TO_2 },
    not: { from_number: TO_2 },
    wrong: ['x'.repeat(65), 'x'.repeat(8000)],
    refusal: BAD_NUMBERS,
  },
  contactEndsWith: {
    asks: ['198', '15555550198'],
    finds: { to_number: TO_2 },
    not: { from_number: TO_2 },
    wrong: ['98', '1'.repeat(16), '+198', 'x'],
  },
  startDate: {
    asks: ['2026-11-20', '2026-11-20T01:00:00+01:00'],
    finds: { created_at: DAY },
    not: { created_at: DAY - 1 },
    wrong: ['yesterday', '2026-02-30', '2026-11-20T00:00:00'],
  },
  endDate: {
    asks: ['2026-11-19', '2026-11-19T23:59:59.999Z'],
    finds: { created_at: DAY - 1 },
    not: { created_at: DAY },
    wrong: ['now', '2026-02-30', '2026-11-19T23:59:59'],
  },
}

const EACH = Object.entries(EXAMPLES).map(([name, example]) => ({ name: name as keyof typeof EXAMPLES, ...example }))
const { log, lines } = recordedLog()
let world: World
beforeAll(async () => {
  world = await createWorld({ connect: false, work: false, log })
})
afterAll(() => world[Symbol.asyncDispose]())

/** A tenant with a message that is found, called `found`, and one that is not; another tenant has the same two. */
async function stored({ finds, not }: Example): Promise<{ key: string; tenantId: string }> {
  const [ours, theirs] = [await world.otherTenant('Ours'), await world.otherTenant('Theirs')]
  for (const { tenantId } of [ours, theirs]) {
    await store({ ...finds, tenant_id: tenantId, body: 'found' })
    await store({ ...not, tenant_id: tenantId, body: 'not' })
  }
  return { key: ours.apiKey, tenantId: ours.tenantId }
}

let count = 0
async function store(own: Columns): Promise<void> {
  count++
  const { code, text } = MESSAGE_FAILURES.expired
  const failed = { direction: 'outbound', status: 'failed', error: text, error_code: code }
  const others = { from_number: FROM, to_number: TO, created_at: DAY, updated_at: DAY, app_id: 'app' }
  const row = { id: `msg_${count}`, job_id: `job_${count}`, ...failed, ...others, ...own }
  const names = Object.keys(row)
  await world.gateway.database.gate.execute({
    sql: `INSERT INTO messages (${names.join()}) VALUES (${names.map(() => '?').join()})`,
    args: Object.values(row),
  })
}

const pathOf = (name: string, ...values: string[]): string =>
  `/v1/sms/messages?${values.map((value) => `${name}=${encodeURIComponent(value)}`).join('&')}`

async function found(path: string, key: string): Promise<string[]> {
  const { status, body } = await world.json<{ messages: { body: string }[]; total: number }>('GET', path, { key })
  expect([path, status, body.total]).toEqual([path, 200, body.messages.length])
  return body.messages.map((message) => message.body)
}

const isOfFailures = (name: string): boolean => name in FailuresQuery.shape
const failuresPath = (path: string): string => path.replace('/messages?', '/failures?')

test('each filter has a row', () => {
  expect(['tenantId', ...Object.keys(EXAMPLES)].toSorted()).toEqual(Object.keys(FILTERS).toSorted())
})

test.each(EACH)('$name finds its messages, of the own tenant alone, and with other filters', async (each) => {
  const { name, asks } = each
  const { key } = await stored(each)
  const [other, another] =
    name === 'direction' ? ['&status=failed', '&status=sent'] : ['&direction=outbound', '&direction=inbound']
  for (const value of asks) {
    expect(await found(pathOf(name, value), key)).toEqual(['found'])
    expect(await found(pathOf(name, value) + other, key)).toEqual(['found'])
    expect(await found(`${pathOf(name, value)}${another}&include=delivery`, key)).toEqual([])
    if (!isOfFailures(name)) continue
    const { body } = await world.json('GET', failuresPath(pathOf(name, value)), { key })
    expect(body).toMatchObject({ failures: [{ count: 1 }] })
  }
})

test.each(EACH)('an empty $name is absent, and of several the last one counts', async (each) => {
  const { key } = await stored(each)
  const [value = ''] = each.asks
  expect((await found(pathOf(each.name, ''), key)).toSorted()).toEqual(['found', 'not'])
  expect(await found(pathOf(each.name, each.wrong[0] ?? 'x', value), key)).toEqual(['found'])
  expect(await found(pathOf(each.name, each.wrong[0] ?? 'x', ''), key)).toHaveLength(2)
})

test.each(EACH)('another $name is refused as the API says, or finds nothing if it takes any text', async (each) => {
  const { name, wrong, refusal = `Invalid ${name}` } = each
  const { key } = await stored(each)
  for (const path of wrong.map((value) => pathOf(name, value))) {
    await expectError(await world.call('GET', path, { key }), 400, refusal)
    if (isOfFailures(name)) await expectError(await world.call('GET', failuresPath(path), { key }), 400, refusal)
  }
  expect(refusalsOf(MessagesQuery).includes(refusal)).toBe(wrong.length > 0)
  for (const word of wordsOf(FILTERS[name].takes) ?? []) await found(pathOf(name, word), key)
  if (wrong.length > 0) return
  for (const value of ['nonsense', "' OR 1=1 --", '%', '\0', 'x'.repeat(2000)])
    expect(await found(pathOf(name, value), key)).toEqual([])
})

test.each(EACH)('messages are found by $name in an index', async (each) => {
  const { name, asks, plan = OF_TENANT } = each
  const { key } = await stored(each)
  const { gate, reader } = world.gateway.database
  using read = spyOn(reader, 'longRead')
  for (const value of asks) await found(pathOf(name, value), key)
  const reads = read.mock.calls.filter(([, sql]) => sql.includes('hits'))
  const plans = await Promise.all(
    reads.map(([, sql, args]) => gate.execute({ sql: `EXPLAIN QUERY PLAN ${sql}`, args: [...args] })),
  )
  const steps = plans.flatMap(({ rows }) => rows.map(({ detail }) => String(detail)))
  const finding = steps.filter((step) => / messages /.test(step))
  expect(finding.length).toBeGreaterThanOrEqual(asks.length)
  expect(finding.filter((step) => !step.includes(plan))).toEqual([])
})

test.each(EACH)('no value of $name is in the log, even of a request that fails', async ({ name, asks }) => {
  using read = spyOn(world.gateway.database.reader, 'longRead')
  for (const value of asks) {
    read.mockRejectedValueOnce(new Error(`cannot read ${value}`))
    expect((await world.call('GET', pathOf(name, value))).status).toBe(500)
    expect(lines.at(-1)).toContain('request failed')
    for (const text of [value, encodeURIComponent(value)]) expect(lines.at(-1)).not.toContain(text)
  }
})

test('sgw messages list has each filter as an option', async () => {
  const operator = openOperatorSocket(world)
  for (const each of EACH) {
    const { tenantId } = await stored(each)
    const option = each.option ?? `--${each.name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
    const words = ['messages', 'list', '--tenant', tenantId, option, each.asks[0] ?? '', '--json']
    const { code, stdout, stderr } = await sgwIn(world.folder, words)
    expect([option, code, stderr]).toEqual([option, 0, ''])
    expect([option, JSON.parse(stdout)]).toMatchObject([option, { messages: [{ body: 'found' }], total: 1 }])
  }
  await operator.stop()
})
