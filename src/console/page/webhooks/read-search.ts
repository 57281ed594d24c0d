import { parseSearch } from '../search/parse-search.ts'
import { noSuch, oneOf, problemOf } from '../search/problem.ts'
import { FILTERS, WORDS } from './filters.ts'

/** The filters in the typed text, with an app by its name or its id; or why they find nothing. */
export function readSearch(typed: string, destinations: readonly { id: string; name: string }[]) {
  const { text, ...asked } = parseSearch(typed, WORDS)
  const problem =
    text === undefined
      ? problemOf(FILTERS, asked)
      : noSuch(text, 'filter', `Try ${oneOf(WORDS.map((word) => `${word}:`))}`)
  if (problem !== null) return problem
  const known = destinations.find(({ name }) => name === asked.app)
  return known === undefined ? asked : { ...asked, app: known.id }
}
