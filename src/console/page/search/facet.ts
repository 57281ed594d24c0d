import type { FacetValue, Filters } from './filters.ts'

/** Something by which a list can be filtered: `state:waiting`. */
export interface Facet {
  name: string
  /** What it filters by, in a few words. */
  hint: string
  /** Its known values that can complete `part`, most likely first. */
  valuesFor(part: string): readonly FacetValue[]
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

/** The values that complete `part`, of each kind that a view knows. */
export type KnownValues<Known extends string> = Readonly<Record<Known, (part: string) => readonly FacetValue[]>>

/** The filters of a list, with the known values. */
export const facetsOf = <Known extends string>(
  filters: Filters,
  suggested: Readonly<Record<string, Suggested<Known>>>,
  values: KnownValues<NoInfer<Known>>,
): Facet[] =>
  Object.entries(suggested).map(([parameter, filter]) => {
    const { word: name = parameter, values: fixed = {} } = filters[parameter] ?? {}
    const { hint = Object.keys(fixed).join(', '), known = [], needsWord = false } = filter
    const all = (part: string): FacetValue[] => [...hinted(fixed), ...known.flatMap((kind) => values[kind](part))]
    return { name, hint, isFoundByValue: !needsWord, valuesFor: (part) => matching(all(part), part) }
  })

/** Values, each with its meaning. */
export const hinted = (hints: Readonly<Record<string, string>>): FacetValue[] =>
  Object.entries(hints).map(([value, hint]) => ({ value, hint }))

/** Values that begin with the typed text; for longer texts also those that contain it, such as the last digits of a number. */
function matching(values: readonly FacetValue[], part: string): readonly FacetValue[] {
  const typed = part.toLowerCase()
  const fits = ({ value, label = value }: FacetValue): boolean =>
    [value, label].some((text) => {
      const at = text.toLowerCase().indexOf(typed)
      return at === 0 || (at > 0 && typed.length >= MIN_INNER)
    })
  return values.filter(fits)
}

const MIN_INNER = 3
