import { parseSearch } from '../search/parse-search.ts'
import { typedNumber, unquoted } from '../search/typed-number.ts'
import { WORDS, problemOf } from './filters.ts'

/**
 * The filters in the typed text, or why the API does not accept them. Digits alone are the end of a contact's number; in quotes, they are
 * words.
 */
export function askedBy(typed: string): Readonly<Record<string, string>> | string {
  // The last two are words from older versions, which the view turns into a state.
  const { text, ...filter } = parseSearch(typed, [...WORDS, 'status', 'direction'])
  const asked = text === undefined ? filter : { ...filter, ...(typedNumber(text) ?? { text: unquoted(text) }) }
  return problemOf(asked) ?? asked
}
