import type { Facet } from './facet.ts'

/** A filter to complete, or, with a value, a complete filter. */
export interface Suggestion {
  name: string
  value: string | null
  /** The text after the colon; '' without a value. */
  label: string
  hint: string
}

const MAX_SUGGESTIONS = 12
/** A single letter finds only names. */
const MIN_WORD = 2

/** Completes the last word of the typed text: the names of filters, or, after `name:`, its values. */
export function suggestionsFor(typed: string, facets: readonly Facet[]): Suggestion[] {
  const word = lastWord(typed)
  const colon = word.indexOf(':')
  const named = colon < 0 ? undefined : facets.find(({ name }) => name === word.slice(0, colon))
  if (named !== undefined) return valuesOf(named, word.slice(colon + 1)).slice(0, MAX_SUGGESTIONS)
  const names = facets.filter(({ name }) => name.startsWith(word.toLowerCase())).map(nameOf)
  const found = word.length < MIN_WORD ? [] : facets.filter(({ isFoundByValue }) => isFoundByValue)
  return [...names, ...found.flatMap((facet) => valuesOf(facet, word))].slice(0, MAX_SUGGESTIONS)
}

/** What stays in the field when a suggestion is chosen: a complete filter leaves the field, a name waits for its value. */
export function typedAfter(typed: string, { name, value }: Suggestion): string {
  const before = typed.slice(0, typed.length - lastWord(typed).length)
  return value === null ? `${before}${name}:` : before
}

/** The word being typed; '' after a space. */
export const lastWord = (typed: string): string => /\S*$/.exec(typed)?.[0] ?? ''

const nameOf = ({ name, hint }: Facet): Suggestion => ({ name, value: null, label: '', hint })

/** Fewer letters find only what begins with them. */
const MIN_INNER = 3

/** Values that begin with `part` or contain it, such as the last digits of a number. One that is typed to its end needs no suggestion. */
function valuesOf({ name, values }: Facet, part: string): Suggestion[] {
  const typed = part.toLowerCase()
  const fits = (text: string): boolean => {
    const at = text.toLowerCase().indexOf(typed)
    return at === 0 || (at > 0 && typed.length >= MIN_INNER)
  }
  return values()
    .filter(({ value, label = value }) => value !== part && (fits(value) || fits(label)))
    .map(({ value, label = value, hint = '' }) => ({ name, value, label, hint }))
}
