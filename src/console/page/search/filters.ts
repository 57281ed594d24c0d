import { rowTime } from '../state/clock.ts'

/** A value that a filter can have. */
export interface FacetValue {
  value: string
  /** The name that people use, if it is not the value. */
  label?: string | undefined
  hint?: string | undefined
}

/** A parameter of the API on the page: a word of the search field, `status:failed`, and of the address. */
export interface FilterWord {
  /** If it differs from the parameter's name. */
  readonly word?: string
  /** Its values, each with its meaning, if the API knows no others. */
  readonly values?: Readonly<Record<string, string>>
  /** Whether a value can find something, if not all can. */
  isValid?(value: string): boolean
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

/** Filters whose values mean the same in every tenant: fixed values, and times, which the page converts for the API. */
export const commonWords = (filters: Filters): string[] =>
  Object.entries(filters).flatMap(([name, { word = name, values, asked }]) => ((values ?? asked) ? word : []))

/** The filter of an address. */
export const filterOf = <Word extends string>(
  words: readonly Word[],
  params: Readonly<Record<string, string>>,
): Filter<Word> =>
  Object.fromEntries(words.flatMap((word) => (params[word] ? [[word, params[word]]] : []))) as Filter<Word>

/** The word of the first filter that finds nothing anywhere; undefined if all are valid. What to ask instead is in `problem.ts`. */
export function invalidIn(filters: Filters, filter: Filter<string>): string | undefined {
  for (const [name, { word = name, values, isValid }] of Object.entries(filters)) {
    const value = filter[word]
    if (value !== undefined && !(values ? Object.hasOwn(values, value) : (isValid?.(value) ?? true))) return word
  }
  return undefined
}

/** The API's query of a filter. */
export const queryOf = (filters: Filters, filter: Filter<string>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(filters).flatMap(([name, { word = name, asked }]) => {
      const value = filter[word]
      return value === undefined ? [] : [[name, asked?.(value) ?? value]]
    }),
  )

/** A filter's time in the form that rows have; other values unchanged. */
export const timeSaid = (value: string, now: number): string =>
  /^\d{4}-\d\d-\d\dT/.test(value) ? rowTime(value, now) : value

/** A tab above a list: the filters that it sets, where '' removes one. Every tab of a row names the same filters. */
export interface Tab {
  name: string
  asks: Readonly<Record<string, string>>
}

/** The tab that matches the filters of the row; null if none does. */
export const tabOf = (tabs: readonly Tab[], filter: Filter<string>): Tab | null =>
  tabs.find(({ asks }) => Object.entries(asks).every(([name, value]) => (filter[name] ?? '') === value)) ?? null

/** A filter in the search field. */
export interface ChipFilter {
  name: string
  value: string
  /** The value in words for people. */
  said: string
}

/** The filters in the search field: all except those of the chosen tab. */
export const chipsOf = (filter: Filter<string>, tab: Tab | null, said: (value: string) => string): ChipFilter[] =>
  Object.entries(filter).flatMap(([name, value = '']) =>
    name in (tab?.asks ?? {}) ? [] : { name, value, said: said(value) },
  )
