import { rowTime } from '../state/clock.ts'
import { oneOf } from './parse-search.ts'

/** A value that can be asked for. */
export interface FacetValue {
  value: string
  /** What a person calls it, if that is not the value. */
  label?: string | undefined
  hint?: string | undefined
}

/** A parameter of the API as the page has it: a word of the search field, `status:failed`, and of the address. */
export interface FilterWord {
  /** If it is not the parameter's name. */
  readonly word?: string
  /** Its values, each with what it means, if the API knows no others. */
  readonly values?: Readonly<Record<string, string>>
  /** Why a value cannot be asked for, as a sentence; null if it can. */
  problem?(value: string): string | null
  /** The value of the API. */
  asked?(value: string): string
}

/** The filters of a list, by the API's parameters. */
export type Filters = Readonly<Record<string, FilterWord>>

/** The words of filters. */
export type WordOf<All extends Filters> = {
  [Name in keyof All & string]: All[Name] extends { readonly word: infer Word extends string } ? Word : Name
}[keyof All & string]

type Filter<Word extends string> = Readonly<Partial<Record<Word, string>>>

export const wordsOf = <All extends Filters>(filters: All): WordOf<All>[] =>
  Object.entries(filters).map(([name, { word = name }]) => word as WordOf<All>)

/** Those whose values mean the same in every tenant: fixed ones, and times, of which the page makes those of the API. */
export const commonWords = (filters: Filters): string[] =>
  Object.entries(filters).flatMap(([name, { word = name, values, asked }]) => ((values ?? asked) ? word : []))

/** The filter of an address. */
export const filterOf = <Word extends string>(
  words: readonly Word[],
  params: Readonly<Record<string, string>>,
): Filter<Word> =>
  Object.fromEntries(words.flatMap((word) => (params[word] ? [[word, params[word]]] : []))) as Filter<Word>

/** Why a filter finds nothing anywhere, and what can be asked instead; null if it can be asked. `instead`: advice for words that are shown and no values. */
export function problemOf(
  filters: Filters,
  filter: Filter<string>,
  instead?: ReadonlyMap<string, string>,
): string | null {
  for (const [name, { word = name, values, problem }] of Object.entries(filters)) {
    const value = filter[word]
    if (value === undefined) continue
    const isKnown = values === undefined || Object.hasOwn(values, value)
    const found = isKnown
      ? (problem?.(value) ?? null)
      : noSuch(value, word, instead?.get(value) ?? `Try ${otherFor(value, filters) ?? oneOf(Object.keys(values))}`)
    if (found !== null) return found
  }
  return null
}

/** A filter that has the value which another one does not know. */
function otherFor(value: string, filters: Filters): string | null {
  const other = Object.entries(filters).find(([, { values = {} }]) => Object.hasOwn(values, value))
  return other === undefined ? null : `${other[1].word ?? other[0]}:${value}`
}

export const noSuch = (value: string, kind: string, advice: string): string => `Invalid ${kind}: “${value}”. ${advice}.`

/** The API's query of a filter. */
export const queryOf = (filters: Filters, filter: Filter<string>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(filters).flatMap(([name, { word = name, asked }]) => {
      const value = filter[word]
      return value === undefined ? [] : [[name, asked?.(value) ?? value]]
    }),
  )

/** A time of a filter as rows have it; other values as they are. */
export const timeSaid = (value: string, now: number): string =>
  /^\d{4}-\d\d-\d\dT/.test(value) ? rowTime(value, now) : value

/** The filters that stand in the search field: all but those that the chosen tab says. */
export const chipsOf = (
  filter: Filter<string>,
  tab: { asks: object } | null,
  said: (value: string) => string,
): { name: string; value: string; said: string }[] =>
  Object.entries(filter).flatMap(([name, value = '']) =>
    name in (tab?.asks ?? {}) ? [] : { name, value, said: said(value) },
  )
