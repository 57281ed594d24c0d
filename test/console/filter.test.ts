import { expect, test } from 'bun:test'
import { FILTERS, type Filter, WORDS, problemOf, queryOf, tabOf } from '../../src/console/page/messages/filters.ts'
import { commonWords } from '../../src/console/page/search/filters.ts'

const TABS: readonly [filter: Filter, tab: string | null][] = [
  [{}, 'All'],
  [{ contact: '+15555550199' }, 'All'],
  [{ state: 'failed' }, 'Failed'],
  [{ state: 'waiting' }, 'Waiting'],
  [{ state: 'undelivered', after: '24h' }, 'Not delivered'],
  [{ state: 'cancelled' }, null],
  [{ state: 'failed', direction: 'inbound' }, null],
  [{ status: 'failed' }, null],
  [{ status: 'queued' }, null],
  [{ status: 'received' }, 'Received'],
  [{ direction: 'inbound' }, 'Received'],
  [{ direction: 'inbound', status: 'received' }, 'Received'],
  [{ direction: 'outbound' }, null],
  [{ direction: 'outbound', status: 'received' }, null],
  [{ direction: 'inbound', status: 'failed' }, null],
  [{ status: 'sent' }, null],
  [{ status: 'wrong' }, null],
]

for (const [filter, tab] of TABS)
  test(`${JSON.stringify(filter)} is shown by ${tab === null ? 'its chips' : `the tab ${tab}`}`, () => {
    expect<string | null>(tabOf(filter)?.name ?? null).toBe(tab)
  })

const PROBLEMS: readonly [filter: Filter, problem: string][] = [
  [{ state: 'wrong' }, '“wrong” is no state. Try waiting, scheduled, failed, cancelled or undelivered.'],
  [{ status: 'wrong' }, '“wrong” is no status. Try queued, sending, sent, failed or received.'],
  [{ status: 'Failed' }, '“Failed” is no status.'],
  [{ status: 'delivered' }, '“delivered” is no status. What was delivered is part of status:sent.'],
  [{ status: 'undelivered' }, '“undelivered” is no status. Try state:undelivered.'],
  [{ direction: 'in' }, '“in” is no direction. Try inbound or outbound.'],
  [{ number: '555' }, '“555” is no number of yours. Write it as +15035550100.'],
  [{ contact: 'x'.repeat(65) }, 'A contact has at most 64 characters'],
  [{ after: 'tuesday' }, '“tuesday” is no time. Try today, yesterday, 24h, 7d or 2026-11-20.'],
  [{ before: 'now' }, '“now” is no time.'],
  [{ after: '2026-02-31' }, '“2026-02-31” is no time.'],
  [{ after: '2026-13-01' }, '“2026-13-01” is no time.'],
  [{ after: '2026-11-20T10:00' }, '“2026-11-20T10:00” is no time.'],
]

for (const [filter, problem] of PROBLEMS)
  test(`${JSON.stringify(filter).slice(0, 40)} is refused in words`, () =>
    expect(problemOf(filter)).toStartWith(problem))

test('a filter that the API takes has no problem', () => {
  const times = ['today', 'yesterday', '24h', '7d', '2026-11-20', '2026-11-20T10:00Z', '2026-11-20T10:00:00.123+01:00']
  for (const after of times) expect([after, problemOf({ after, before: after })]).toEqual([after, null])
  for (const contact of ['+15555550199', '72975', 'Harbor Clinic'])
    expect(problemOf({ contact, status: 'sent', direction: 'outbound', number: '+15555550100' })).toBeNull()
})

test('every time that the search takes is a date for the API', () => {
  for (const after of ['today', 'yesterday', '24h', '7d', '2026-11-20'])
    expect(Number.isNaN(Date.parse(String(queryOf({ after }, new Map()).startDate)))).toBe(false)
})

test('what means the same in every tenant stays when the tenant is changed, and nothing else', () => {
  const stay = commonWords(FILTERS)
  expect(stay).toEqual(expect.arrayContaining(['after', 'before', 'direction', 'state', 'status']))
  expect(stay.filter((word) => ['contact', 'number', 'app', 'user', 'to', 'from', 'text'].includes(word))).toEqual([])
})

test('the API is asked for each filter by its own name, and not for the text', () => {
  const all = Object.fromEntries(WORDS.map((word) => [word, word === 'app' ? 'booking-app' : '2026-11-20']))
  const asked = queryOf(all, new Map([['booking-app', 'app_1']]))
  expect(Object.keys(asked).toSorted()).toEqual(Object.keys(FILTERS).toSorted())
  expect(asked.appId).toBe('app_1')
})
