import { expect, spyOn, test } from 'bun:test'
import { seededRandom } from '../../src/simulator/random.ts'
import { createApp } from '../../src/operator/apps.ts'
import { createTenant } from '../../src/operator/tenants.ts'
import { expectError } from '../support/expect-error.ts'
import { manualClock } from '../support/manual-clock.ts'
import { signIn } from '../support/operator.ts'
import { type World, createWorld } from '../support/world.ts'

const HALF_HOUR_MS = 30 * 60_000
const DAY_MS = 48 * HALF_HOUR_MS
const COUNTS = ['sent', 'failed', 'received', 'segments', 'media'] as const

type Usage = { tenantId: string; appId: string } & Record<(typeof COUNTS)[number], number>
interface Month {
  totals: Usage[]
  days: (Usage & { date: string })[]
}

const ofWorld = (options = {}) => createWorld({ clock: manualClock(), connect: false, work: false, ...options })

async function reader(world: World) {
  const { token } = await signIn(world)
  return (query = '', headers: Record<string, string> = {}): Promise<Response> =>
    world.call('GET', `/v1/operator/usage${query}`, { key: token, headers })
}

const jsonOf = async (answer: Promise<Response>): Promise<Month> => (await (await answer).json()) as Month
const textOf = async (answer: Promise<Response>): Promise<string> => (await answer).text()

interface Row {
  tenant: string
  app: string
  at: number
  counts: readonly number[]
}

const write = (world: World, rows: readonly Row[]): Promise<unknown> =>
  world.gateway.database.gate.execute({
    sql: `INSERT INTO usage (tenant_id, half_hour, app_id, latency_ms, sent, failed, received, segments, media)
      SELECT value ->> 'tenant', value ->> 'halfHour', value ->> 'app', key, value ->> '$.counts[0]', value ->> '$.counts[1]',
        value ->> '$.counts[2]', value ->> '$.counts[3]', value ->> '$.counts[4]' FROM json_each(?1)`,
    args: [JSON.stringify(rows.map(({ at, ...row }) => ({ ...row, halfHour: Math.floor(at / HALF_HOUR_MS) })))],
  })

test('a month has the totals of each app and the days of each tenant’s own usage', async () => {
  const seed = 1 + Math.floor(Math.random() * 2_000_000_000)
  process.stdout.write(`seed ${seed}\n`)
  const random = seededRandom(seed)
  const clock = manualClock()
  await using world = await ofWorld({ clock })
  clock.advance(1)
  const other = await world.otherTenant()
  const second = await world.secondApp()
  const first = Date.parse('2026-10-31T00:00:00Z')
  const rows = Array.from({ length: 500 }, (): Row => {
    const { tenantId, appId } = [world.app, second, other][Math.floor(random() * 3)] ?? other
    const at = first + Math.floor(random() * 33 * DAY_MS)
    return { tenant: tenantId, app: appId, at, counts: COUNTS.map(() => Math.floor(random() * 3)) }
  })
  await write(world, rows)
  const month = await jsonOf((await reader(world))('?month=2026-11'))
  const own = []
  for (const { tenantId, apiKey } of [world.app, other]) {
    const { body } = await world.json<{ days: { date: string }[] }>(
      'GET',
      '/v1/usage?startDate=2026-11-01&endDate=2026-11-30',
      { key: apiKey },
    )
    own.push(...body.days.map((day) => ({ tenantId, ...day })))
  }
  const inOrder = (days: Month['days']): Month['days'] =>
    days.toSorted((one, another) => (`${one.date} ${one.appId}` < `${another.date} ${another.appId}` ? -1 : 1))
  expect(inOrder(month.days)).toEqual(inOrder(own as Month['days']))
  expect(month.days.map(({ date }) => date)).toEqual(
    month.days
      .map(({ date }) => date)
      .toSorted()
      .toReversed(),
  )
  expect(month.totals.map(({ appId }) => appId)).toEqual([world.app.appId, second.appId, other.appId])
  for (const day of Map.groupBy(month.days, ({ date }) => date).values()) {
    const appIds = day.map(({ appId }) => appId)
    expect(appIds).toEqual(month.totals.map(({ appId }) => appId).filter((appId) => appIds.includes(appId)))
  }
  for (const { tenantId, appId, ...total } of month.totals) {
    const days = month.days.filter((day) => day.appId === appId && day.tenantId === tenantId)
    const sums = COUNTS.map((name) => [name, days.reduce((sum, day) => sum + day[name], 0)])
    expect(total).toEqual(Object.fromEntries(sums))
  }
})

test('a month of many apps is read and written in portions, so that no tick of the event loop takes long', async () => {
  await using world = await ofWorld()
  const apps = 4000
  const rows = Array.from({ length: apps }, (_, index) => ({
    tenant: world.tenantId,
    app: `app_${String(index).padStart(16, '0')}`,
    at: Date.parse('2026-11-03T00:00:00Z'),
    counts: [1, 2, 3, 4, 5],
  }))
  await write(world, rows)
  const read = await reader(world)
  const texts: string[] = []
  for (const accept of ['application/json', 'text/csv']) {
    for (const encoding of ['identity', 'gzip', 'br']) {
      const { text, largest } = await watched(world, () =>
        read('?month=2026-11', { accept, 'accept-encoding': encoding }),
      )
      expect(largest.rows).toBeLessThan(apps / 3)
      expect(largest.written).toBeLessThan(text.length / 12)
      texts.push(text)
    }
  }
  const [json = '', ...others] = new Set(texts)
  expect(others.map((csv) => csv.split('\r\n').length)).toEqual([1 + apps + 1 + apps + 1])
  expect(JSON.parse(json) as Month).toEqual({
    totals: rows.map(({ tenant, app }) => ({ tenantId: tenant, appId: app, ...COUNTED })),
    days: rows.map(({ tenant, app }) => ({ date: '2026-11-03', tenantId: tenant, appId: app, ...COUNTED })),
  })
})

/** The most rows that were read at once, and the longest text that was made from rows or into bytes at once. */
async function watched(world: World, ask: () => Promise<Response>) {
  using reads = spyOn(world.gateway.database.reader, 'longRead')
  using stringify = spyOn(JSON, 'stringify')
  using encode = spyOn(TextEncoder.prototype, 'encode')
  using from = spyOn(Buffer, 'from')
  const answer = await ask()
  const bytes = await answer.arrayBuffer()
  const ofDays: { length: number }[] = []
  for (const [index, [, sql]] of reads.mock.calls.entries())
    if (sql.includes('FROM used')) ofDays.push((await reads.mock.results[index]?.value) as unknown[])
  const written = [
    ...stringify.mock.results.map(({ value }) => value).filter((value) => String(value).includes('"sent"')),
    ...[...encode.mock.calls, ...from.mock.calls].map(([value]) => value),
  ]
  const lengths = written.map((value) => (typeof value === 'string' ? value.length : 0))
  return {
    text: new TextDecoder().decode(bytes),
    largest: { rows: Math.max(...ofDays.map(({ length }) => length)), written: Math.max(...lengths) },
  }
}

const COUNTED = { sent: 1, failed: 2, received: 3, segments: 4, media: 5 }

test('a month begins and ends with its UTC days, and the current one is the default', async () => {
  await using world = await ofWorld()
  const { tenantId: tenant, appId: app } = world.app
  const days = ['2026-10-31T23:59:59Z', '2026-11-01T00:00:00Z', '2026-11-30T23:59:59Z', '2026-12-01T00:00:00Z']
  await write(
    world,
    [...days, '2024-02-29T12:00:00Z'].map((day) => ({ tenant, app, at: Date.parse(day), counts: [1, 0, 0, 1, 0] })),
  )
  const read = await reader(world)
  const datesOf = async (query: string) => (await jsonOf(read(query))).days.map(({ date }) => date)
  const november = ['2026-11-30', '2026-11-01']
  for (const query of ['', '?month=', '?month=2026-11', '?month=2026-10&month=2026-11'])
    expect([query, await datesOf(query)]).toEqual([query, november])
  expect(await datesOf('?month=2026-10')).toEqual(['2026-10-31'])
  expect(await datesOf('?month=2026-12')).toEqual(['2026-12-01'])
  expect(await datesOf('?month=2024-02')).toEqual(['2024-02-29'])
  expect(await jsonOf(read('?month=9999-12'))).toEqual({ totals: [], days: [] })
  expect(await jsonOf(read('?month=0001-01'))).toEqual({ totals: [], days: [] })
  for (const month of [
    '2026-13',
    '2026-00',
    '2026-1',
    '26-11',
    '2026-11-01',
    '2026',
    'x',
    '-001-01',
    '2026-11%00',
    'x'.repeat(5000),
  ])
    await expectError(await read(`?month=${month}`), 400, 'Invalid month')
  await expectError(await read('?month=2026-11&month=x'), 400, 'Invalid month')
})

test('the table has a header, the totals, an empty line and the days, with names that no spreadsheet runs and that stay one field', async () => {
  await using world = await ofWorld()
  const names = ['=HYPERLINK("http://x")', '+1', '-1', '@x', 'A, "B" and C', 'Zoë 🙂 شركة']
  const lines: string[] = []
  const at = Date.parse('2026-11-21T00:00:00Z')
  for (const name of names) {
    const { tenantId } = await createTenant(world.gateway, { name })
    const { appId } = await createApp(world.gateway, { tenantId, name, webhookUrl: null, role: 'app' })
    await write(world, [{ tenant: tenantId, app: appId, at, counts: [5, 4, 3, 2, 1] }])
    lines.push(`${tenantId},NAME,${appId},NAME,5,4,3,2,1`)
  }
  const quoted = [`"'=HYPERLINK(""http://x"")"`, `'+1`, `'-1`, `'@x`, '"A, ""B"" and C"', 'Zoë 🙂 شركة']
  const expected = lines.map((line, index) => line.replaceAll('NAME', () => quoted[index] ?? ''))
  const read = await reader(world)
  const answer = await read('?month=2026-11', { accept: 'text/csv' })
  expect(answer.headers.get('content-type')).toBe('text/csv; charset=utf-8')
  expect(answer.headers.get('content-disposition')).toBe('attachment; filename="usage-2026-11.csv"')
  expect(answer.headers.get('cache-control')).toBe('no-store')
  const [header, ...others] = (await answer.text()).split('\r\n')
  expect(header).toBe('date,tenantId,tenantName,appId,appName,sent,failed,received,segments,media')
  const [totals, days] = [others.slice(0, names.length), others.slice(names.length + 1, -1)]
  expect(others[names.length]).toBe('')
  expect(others.at(-1)).toBe('')
  expect(totals.toSorted()).toEqual(expected.map((line) => `,${line}`).toSorted())
  expect(days.toSorted()).toEqual(expected.map((line) => `2026-11-21,${line}`).toSorted())
  expect(totals.map((line) => `2026-11-21${line}`)).toEqual(days)
})

test('it is a table only for those who prefer that to JSON, and a mistake is JSON', async () => {
  await using world = await ofWorld()
  const read = await reader(world)
  const typeOf = async (accept: string) =>
    (await read('', { accept })).headers.get('content-type')?.replace('; charset=utf-8', '')
  for (const accept of ['text/csv', 'TEXT/CSV', 'text/csv, */*', 'text/csv;q=0.9, application/json;q=0.8'])
    expect([accept, await typeOf(accept)]).toEqual([accept, 'text/csv'])
  for (const accept of [
    '',
    '*/*',
    'application/json',
    'application/json, text/csv',
    'text/csv;q=0',
    'text/html',
    'text/csvx',
  ])
    expect([accept, await typeOf(accept)]).toEqual([accept, 'application/json'])
  expect(await textOf(read('', { accept: 'text/csv' }))).toBe(
    'date,tenantId,tenantName,appId,appName,sent,failed,received,segments,media\r\n\r\n',
  )
  await expectError(await read('?month=x', { accept: 'text/csv' }), 400, 'Invalid month')
})

test('only an operator reads it', async () => {
  await using world = await ofWorld()
  for (const accept of ['application/json', 'text/csv']) {
    const headers = { accept }
    await expectError(await world.call('GET', '/v1/operator/usage', { headers }), 403, 'Forbidden')
    await expectError(
      await world.call('GET', '/v1/operator/usage', { headers, key: null }),
      401,
      'Missing or invalid API key',
    )
  }
})
