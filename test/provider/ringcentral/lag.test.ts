import { expect, test } from 'bun:test'
import { Lag } from '../../../src/provider/ringcentral/lag.ts'
import { ACCESS_TOKEN, clientOf, httpServer, valueOf } from './servers.ts'

const NOON = Date.parse('2026-11-21T12:00:00Z')
const HOUR_MS = 3_600_000

/** The wall clock shows `now`, and the steady clock is `steadyAheadMs` ahead of it. */
const lagAt = (now: number, steadyAheadMs = 0): Lag =>
  new Lag(
    () => now,
    () => now + steadyAheadMs,
  )

test.each([
  ['Sat, 21 Nov 2026 12:00:00 GMT', 0],
  ['Sat, 21 Nov 2026 11:59:31 GMT', 0],
  ['Sat, 21 Nov 2026 11:00:01 GMT', HOUR_MS],
  ['Sat, 21 Nov 2026 13:00:00 GMT', 0],
  ['Thu, 01 Jan 1970 00:00:00 GMT', 24 * HOUR_MS],
  ['yesterday', 0],
  [null, 0],
])('Date: %s means a lag of %i ms', (date, ms) => {
  const lag = lagAt(NOON)
  lag.heard(date)
  expect(lag.ms).toBe(ms)
})

test('each answer replaces the lag of the one before', () => {
  const lag = lagAt(NOON)
  lag.heard('Sat, 21 Nov 2026 11:00:01 GMT')
  lag.heard('Sat, 21 Nov 2026 12:00:00 GMT')
  expect(lag.ms).toBe(0)
})

test.each([
  ['Sat, 21 Nov 2026 12:00:00 GMT', 0, 0],
  ['Sat, 21 Nov 2026 12:00:00 GMT', -7000, -7000],
  ['Sat, 21 Nov 2026 11:00:01 GMT', 0, HOUR_MS - 1000],
  ['Sat, 21 Nov 2026 13:00:00 GMT', 0, -HOUR_MS],
])('Date: %s with a steady clock %i ms from the wall clock means a skew of %i ms', (date, steadyAheadMs, ms) => {
  const lag = lagAt(NOON, steadyAheadMs)
  expect(lag.skewMs).toBeNull()
  for (const heard of [null, 'yesterday', date, null, 'yesterday']) lag.heard(heard)
  expect(lag.skewMs).toBe(ms)
})

test('a listing is repeated if its own answer shows that the clock is fast', async () => {
  const headers = { date: new Date(NOON - HOUR_MS).toUTCString() }
  using server = httpServer(() => Response.json({ records: [] }, { headers }))
  const client = clientOf(server.url, { now: () => NOON })
  for (let look = 0; look < 2; look++)
    valueOf(await client.listMessages(ACCESS_TOKEN, { direction: 'Outbound', since: NOON }))
  const dates = server.requests.map(({ query }) => query.get('dateFrom'))
  expect(dates).toEqual(['2026-11-21T12:00:00.000Z', '2026-11-21T11:00:00.000Z', '2026-11-21T11:00:00.000Z'])
})

test('the clock of a proxy that refuses, fails or shows a page does not count', async () => {
  const proxy = { date: new Date(NOON).toUTCString() }
  const answers = [
    Response.json({ id: 1 }, { headers: { date: new Date(NOON - HOUR_MS).toUTCString() } }),
    ...[200, 302, 403, 429, 502, 503].map((status) => new Response('proxy', { status, headers: proxy })),
  ]
  using server = httpServer(() => answers.shift() ?? Response.json({}, { headers: proxy }))
  const client = clientOf(server.url, { now: () => NOON })
  for (let call = 0; call < 8; call++)
    await client.sendSms(ACCESS_TOKEN, { from: '+15555550100', to: '+15555550101', text: 'x' })
  expect(client.clockSkewMs()).toBe(HOUR_MS)
})
