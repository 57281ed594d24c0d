import type { FacetValue, Filters } from './filters.ts'

/** Something by which a list can be filtered: `state:waiting`. */
export interface Facet {
  name: string
  /** What it filters by, in a few words. */
  hint: string
  /** Its known values, the likeliest first. */
  values: () => readonly FacetValue[]
  /** Whether a value is suggested without the name before it, so that `fail` finds `state:failed`. */
  isFoundByValue: boolean
}

/** What suggestions say about a filter. It is next to the filter, and is loaded with the suggestions. */
export interface Suggested<Known extends string> {
  /** What it filters by, in a few words; by default its values. */
  readonly hint?: string
  /** The suggested values, depending on what the view knows about the tenant. */
  readonly known?: readonly Known[]
  /** Whether a value is suggested only with the word before it. Without this, `fail` finds `state:failed`. */
  readonly needsWord?: boolean
}

/** The filters of a list, with the known values. */
export const facetsOf = <Known extends string>(
  filters: Filters,
  suggested: Readonly<Record<string, Suggested<Known>>>,
  known: Readonly<Record<NoInfer<Known>, () => readonly FacetValue[]>>,
): Facet[] =>
  Object.entries(suggested).map(([parameter, { hint, known: kinds = [], needsWord = false }]) => {
    const { word: name = parameter, values: fixed = {} } = filters[parameter] ?? {}
    const values = (): FacetValue[] => [...hinted(fixed), ...kinds.flatMap((kind) => known[kind]())]
    return { name, hint: hint ?? Object.keys(fixed).join(', '), values, isFoundByValue: !needsWord }
  })

/** Values, each with its meaning. */
export const hinted = (hints: Readonly<Record<string, string>>): FacetValue[] =>
  Object.entries(hints).map(([value, hint]) => ({ value, hint }))
