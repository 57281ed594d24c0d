import { expect, test } from 'bun:test'
import { Lag } from '../../../src/provider/ringcentral/lag.ts'
import { ACCESS_TOKEN, clientOf, httpServer, valueOf } from './servers.ts'

const NOON = Date.parse('2026-11-21T12:00:00Z')
const HOUR_MS = 3_600_000

test.each([
  ['Sat, 21 Nov 2026 12:00:00 GMT', 0],
  ['Sat, 21 Nov 2026 11:59:31 GMT', 0],
  ['Sat, 21 Nov 2026 11:00:01 GMT', HOUR_MS],
  ['Sat, 21 Nov 2026 13:00:00 GMT', 0],
  ['Thu, 01 Jan 1970 00:00:00 GMT', 24 * HOUR_MS],
  ['yesterday', 0],
  [null, 0],
])('Date: %s means a lag of %i ms', (date, ms) => {
  const lag = new Lag(() => NOON)
  lag.heard(date)
  expect(lag.ms).toBe(ms)
})

test('each answer is believed anew', () => {
  const lag = new Lag(() => NOON)
  lag.heard('Sat, 21 Nov 2026 11:00:01 GMT')
  lag.heard('Sat, 21 Nov 2026 12:00:00 GMT')
  expect(lag.ms).toBe(0)
})

test('a list is asked for again when its own answer tells that our clock is fast', async () => {
  const headers = { date: new Date(NOON - HOUR_MS).toUTCString() }
  using server = httpServer(() => Response.json({ records: [] }, { headers }))
  const client = clientOf(server.url, { now: () => NOON })
  for (let look = 0; look < 2; look++)
    valueOf(await client.listMessages(ACCESS_TOKEN, { direction: 'Outbound', since: NOON }))
  const asked = server.seen.map(({ query }) => query.get('dateFrom'))
  expect(asked).toEqual(['2026-11-21T12:00:00.000Z', '2026-11-21T11:00:00.000Z', '2026-11-21T11:00:00.000Z'])
})
