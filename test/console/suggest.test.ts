import { expect, test } from 'bun:test'
import { FILTERS, STATE_HINTS, SUGGESTED, WORDS } from '../../src/console/page/messages/filters.ts'
import { problemOf } from '../../src/console/page/messages/problem.ts'
import { facetsOf } from '../../src/console/page/search/facet.ts'
import { timesAt } from '../../src/console/page/search/suggested-times.ts'
import { suggestionsFor, typedAfter } from '../../src/console/page/search/suggest.ts'
import { readSearch } from '../../src/console/page/webhooks/filters.ts'

const KNOWN: Parameters<typeof facetsOf<'apps' | 'failures' | 'numbers' | 'contacts' | 'users' | 'times'>>[2] = {
  apps: () => [{ value: 'booking-app' }, { value: 'Front desk' }],
  numbers: () => [{ value: '+15035550100', hint: 'Front desk' }],
  contacts: () => [{ value: '+15035550142' }, { value: '72975' }, { value: 'Harbor Clinic' }],
  failures: () => [{ value: 'expired' }],
  users: () => [{ value: 'patient-2817' }],
  times: () => timesAt(Date.UTC(2026, 10, 24, 14, 26)),
}
const FACETS = facetsOf({ ...FILTERS, state: { values: STATE_HINTS } }, SUGGESTED, KNOWN)

/** What stands in the list: `state:` is a name, `state:failed` is whole. */
const suggested = (typed: string): string[] =>
  suggestionsFor(typed, FACETS).map(({ name, value }) => `${name}:${value ?? ''}`)

test('the empty field suggests every filter of the API, each with what it asks for', () => {
  const names = WORDS.filter((name) => name !== 'text')
  expect(suggested('').toSorted()).toEqual(names.map((name) => `${name}:`).toSorted())
  for (const { hint } of suggestionsFor('', FACETS)) expect(hint).not.toBe('')
})

const STATES = ['waiting', 'scheduled', 'failed', 'cancelled', 'undelivered', 'sent', 'received'].map(
  (state) => `state:${state}`,
)

const TYPED: readonly [typed: string, suggestions: string[]][] = [
  ['sta', ['state:']],
  ['STA', ['state:']],
  ['state:', STATES],
  ['state:f', ['state:failed']],
  ['state:failed', []],
  ['state:wrong', []],
  ['fail', ['failure:', 'state:failed']],
  ['rece', ['state:received']],
  ['app:fr', ['app:Front desk']],
  ['boo', ['app:booking-app']],
  ['contact:0142', ['contact:+15035550142']],
  ['0142', ['contact:+15035550142']],
  ['number:+1503', ['number:+15035550100']],
  ['from:', ['from:+15035550100', 'from:+15035550142', 'from:72975', 'from:Harbor Clinic']],
  ['user:', ['user:patient-2817']],
  ['state:failed con', ['contact:']],
  ['after:t', ['after:today']],
  ['after:2026', ['after:2026-11-24']],
  ['unknown:', []],
  ['nothing like it', []],
  ['$%^&*(', []],
]

for (const [typed, suggestions] of TYPED)
  test(`“${typed}” suggests ${suggestions.length === 0 ? 'nothing' : suggestions.join(', ')}`, () =>
    expect(suggested(typed)).toEqual(suggestions))

test('every value that is suggested can be asked for', () => {
  for (const { name } of FACETS)
    for (const { value } of suggestionsFor(`${name}:`, FACETS)) expect(problemOf({ [name]: value ?? '' })).toBeNull()
})

test('many values make a short list', () => {
  const contacts = Array.from({ length: 500 }, (_, index) => ({ value: `+1555555${1000 + index}` }))
  expect(
    suggestionsFor('contact:', facetsOf(FILTERS, SUGGESTED, { ...KNOWN, contacts: () => contacts })).length,
  ).toBeLessThanOrEqual(12)
})

test('a filter that is taken leaves the field, a name waits for its value, and what stands before stays', () => {
  const [name] = suggestionsFor('hello sta', FACETS)
  const [value] = suggestionsFor('hello state:f', FACETS)
  if (name === undefined || value === undefined) throw new Error('Nothing is suggested')
  expect(typedAfter('hello sta', name)).toBe('hello state:')
  expect(typedAfter('hello state:f', value)).toBe('hello ')
})

const DESTINATIONS = [{ id: 'app_1', name: 'booking-app' }]

test('the search of attempts takes an app by its name or its id, and says what it cannot ask for', () => {
  expect(readSearch('app:booking-app outcome:timeout', DESTINATIONS)).toEqual({
    app: 'app_1',
    outcome: 'timeout',
  })
  expect(readSearch('app:app_2 message:msg_1', DESTINATIONS)).toEqual({ app: 'app_2', message: 'msg_1' })
  expect(readSearch('', DESTINATIONS)).toEqual({})
  expect(readSearch('hello', DESTINATIONS)).toBe(
    'Invalid filter: “hello”. Try app:, trigger:, message:, outcome: or state:.',
  )
  expect(readSearch('outcome:constructor', DESTINATIONS)).toBe(
    'Invalid outcome: “constructor”. Try success, http_error, timeout or network_error.',
  )
})
