import type { FacetValue, Filters } from './filters.ts'

/** Something that a list can be filtered by: `state:waiting`. */
export interface Facet {
  name: string
  /** What it asks for, in a few words. */
  hint: string
  /** Its known values that can complete `part`, the likeliest first. */
  valuesFor(part: string): readonly FacetValue[]
  /** Whether a value is suggested without the name before it, so that `fail` finds `state:failed`. */
  isFoundByValue: boolean
}

/** The values that complete `part`, of each kind that a view knows. */
export type KnownValues<Known extends string> = Readonly<Record<Known, (part: string) => readonly FacetValue[]>>

/** What a list can be filtered by, with the values that are known. */
export const facetsOf = <Known extends string>(
  filters: Filters<Known>,
  values: KnownValues<NoInfer<Known>>,
  hints: Readonly<Record<string, string>> = {},
): Facet[] =>
  Object.entries(filters).map(([parameter, filter]) => {
    const {
      word = parameter,
      values: fixed = {},
      known = [],
      hint = hints[parameter] ?? Object.keys(fixed).join(', '),
    } = filter
    const all = (part: string): FacetValue[] => [...hinted(fixed), ...known.flatMap((kind) => values[kind](part))]
    const isFoundByValue = filter.needsWord !== true
    return { name: word, hint, isFoundByValue, valuesFor: (part) => matching(all(part), part) }
  })

/** Values, each with what it means. */
export const hinted = (hints: Readonly<Record<string, string>>): FacetValue[] =>
  Object.entries(hints).map(([value, hint]) => ({ value, hint }))

/** Values that begin with what was typed; of longer parts also those that contain it, such as the last digits of a number. */
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
