import { type Filters, invalidIn } from './filters.ts'

/** Why the value of a filter is not valid, by the filter's word; by default, it is none of those that the filter can have. */
type Problems = Readonly<Partial<Record<string, (value: string) => string | undefined>>>

/** Why a filter finds nothing anywhere, and what to ask instead; null if it is valid. */
export function problemOf(
  filters: Filters,
  filter: Readonly<Partial<Record<string, string>>>,
  problems: Problems = {},
): string | null {
  const word = invalidIn(filters, filter)
  if (word === undefined) return null
  const value = filter[word] ?? ''
  const values = Object.keys(filters[word]?.values ?? {})
  return problems[word]?.(value) ?? noSuch(value, word, `Try ${oneOf(values)}`)
}

export const noSuch = (value: string, kind: string, advice: string): string => `Invalid ${kind}: “${value}”. ${advice}.`

/** `waiting, failed or cancelled`, for suggestions of valid values. */
export const oneOf = (words: readonly string[]): string => `${words.slice(0, -1).join(', ')} or ${words.at(-1) ?? ''}`
