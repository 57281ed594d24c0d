import { parseSearch } from '../search/parse-search.ts'
import { typedNumber, unquoted } from '../search/typed-number.ts'
import { WORDS, problemOf } from './filters.ts'

/** The filters of what was typed, or why they cannot be asked for. Digits alone are the end of a contact's number; in quotes they are words. */
export function askedBy(typed: string): Readonly<Record<string, string>> | string {
  // The last two are words of older versions, which the view makes a state.
  const { text, ...filter } = parseSearch(typed, [...WORDS, 'status', 'direction'])
  const asked = text === undefined ? filter : { ...filter, ...(typedNumber(text) ?? { text: unquoted(text) }) }
  return problemOf(asked) ?? asked
}
