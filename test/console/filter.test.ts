import { expect, test } from 'bun:test'
import { FILTERS, type Filter, WORDS, queryOf, stateOfLink, tabOf } from '../../src/console/page/messages/filters.ts'
import { problemOf } from '../../src/console/page/messages/problem.ts'
import { commonWords } from '../../src/console/page/search/filters.ts'

const TABS: readonly [filter: Filter, tab: string | null][] = [
  [{}, 'All'],
  [{ contact: '+15555550199' }, 'All'],
  [{ state: 'failed' }, 'Failed'],
  [{ state: 'waiting' }, 'Waiting'],
  [{ state: 'undelivered', after: '24h' }, 'Not delivered'],
  [{ state: 'received' }, 'Received'],
  [{ state: 'cancelled' }, null],
  [{ state: 'sent' }, null],
  [{ state: 'wrong' }, null],
]

for (const [filter, tab] of TABS)
  test(`${JSON.stringify(filter)} is shown by ${tab === null ? 'its chips' : `the tab ${tab}`}`, () => {
    expect<string | null>(tabOf(filter)?.name ?? null).toBe(tab)
  })

const PROBLEMS: readonly [filter: Filter, problem: string][] = [
  [
    { state: 'wrong' },
    'Invalid state: “wrong”. Try waiting, scheduled, failed, cancelled, undelivered, sent or received.',
  ],
  [{ state: 'Failed' }, 'Invalid state: “Failed”.'],
  [{ state: 'delivered' }, 'Invalid state: “delivered”. What was delivered is part of state:sent.'],
  [{ number: '555' }, 'Invalid number: “555”. Write it as +15035550100.'],
  [{ contact: 'x'.repeat(65) }, 'A contact has at most 64 characters'],
  [{ after: 'tuesday' }, 'Invalid time: “tuesday”. Try today, yesterday, 24h, 7d or 2026-11-20.'],
  [{ before: 'now' }, 'Invalid time: “now”.'],
  [{ after: '2026-02-31' }, 'Invalid time: “2026-02-31”.'],
  [{ after: '2026-13-01' }, 'Invalid time: “2026-13-01”.'],
  [{ after: '2026-11-20T10:00' }, 'Invalid time: “2026-11-20T10:00”.'],
]

for (const [filter, problem] of PROBLEMS)
  test(`${JSON.stringify(filter).slice(0, 40)} is refused in words`, () =>
    expect(problemOf(filter)).toStartWith(problem))

test('a filter that the API takes has no problem', () => {
  const times = ['today', 'yesterday', '24h', '7d', '2026-11-20', '2026-11-20T10:00Z', '2026-11-20T10:00:00.123+01:00']
  for (const after of times) expect([after, problemOf({ after, before: after })]).toEqual([after, null])
  for (const contact of ['+15555550199', '72975', 'Harbor Clinic'])
    expect(problemOf({ contact, state: 'sent', number: '+15555550100' })).toBeNull()
})

test('every time that the search takes is a date for the API', () => {
  for (const after of ['today', 'yesterday', '24h', '7d', '2026-11-20'])
    expect(Number.isNaN(Date.parse(String(queryOf({ after }, new Map()).startDate)))).toBe(false)
})

test('what means the same in every tenant stays when the tenant is changed, and nothing else', () => {
  expect(commonWords(FILTERS).toSorted()).toEqual(['after', 'before', 'state'])
})

test('the API is asked for each filter by its own name, and not for the text', () => {
  const all = Object.fromEntries(WORDS.map((word) => [word, word === 'app' ? 'booking-app' : '2026-11-20']))
  const asked = queryOf(all, new Map([['booking-app', 'app_1']]))
  expect(Object.keys(asked).toSorted()).toEqual(Object.keys(FILTERS).toSorted())
  expect(asked.appId).toBe('app_1')
})

test('a state that is a status of the API is asked for as one', () => {
  const none = new Map<string, string>()
  expect(queryOf({ state: 'received' }, none)).toEqual({ status: 'received' })
  expect(queryOf({ state: 'sent' }, none)).toEqual({ status: 'sent' })
  expect(queryOf({ state: 'failed' }, none)).toEqual({ state: 'failed' })
})

test('a link of an older version, by status or direction, leads to the state', () => {
  expect(stateOfLink({ status: 'failed' })).toBe('failed')
  expect(stateOfLink({ status: 'queued' })).toBe('waiting')
  expect(stateOfLink({ direction: 'inbound' })).toBe('received')
  expect(stateOfLink({ direction: 'outbound' })).toBe('')
  expect(stateOfLink({ status: 'wrong' })).toBe('wrong')
})
