/** Something that a list can be filtered by: `state:waiting`. */
export interface Facet {
  name: string
  /** What it asks for, in a few words. */
  hint: string
  /** Its known values that can complete `part`, the likeliest first. */
  valuesFor(part: string): readonly FacetValue[]
  /** Whether a value is suggested without the name before it, so that `fail` finds `state:failed`. */
  isFoundByValue?: boolean
}

export interface FacetValue {
  value: string
  /** What a person calls it, if that is not the value. */
  label?: string | undefined
  hint?: string | undefined
}

/** Values that begin with what was typed; of longer parts also those that contain it, such as the last digits of a number. */
export function matching(values: readonly FacetValue[], part: string): readonly FacetValue[] {
  const typed = part.toLowerCase()
  const fits = ({ value, label = value }: FacetValue): boolean =>
    [value, label].some((text) => {
      const at = text.toLowerCase().indexOf(typed)
      return at === 0 || (at > 0 && typed.length >= MIN_INNER)
    })
  return values.filter(fits)
}

const MIN_INNER = 3
