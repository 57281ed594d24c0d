import { type Facet, type FacetValue, matching } from '../search/facet.ts'
import type { FieldParts } from '../search/search-field.tsx'
import { Suggestions } from '../search/suggestions.tsx'
import type { DeliveryList } from './delivery-list.ts'
import type { Destination } from './destination.ts'
import { OUTCOMES, eventOf, shortUrl } from './words.ts'

interface AttemptSuggestionsProps extends FieldParts {
  list: DeliveryList
  destinations: readonly Destination[] | null
}

/** What the field can ask for, with values from what is loaded. */
export function AttemptSuggestions({ list, destinations, ...field }: AttemptSuggestionsProps) {
  const targets = (kind: Destination['kind']): FacetValue[] =>
    (destinations ?? [])
      .filter((each) => each.kind === kind)
      .map(({ id, name, url }) => ({ value: id, label: kind === 'app' ? name : id, hint: shortUrl(url) }))
  const messages = new Map(list.rows.value.map((row) => [row.messageId, eventOf(row)]))
  const facets: Facet[] = [
    facet('app', 'attempts of an app’s webhook', targets('app')),
    facet('trigger', 'attempts of a trigger', targets('trigger')),
    facet('outcome', 'how an attempt ended', OUTCOME_VALUES),
    facet(
      'message',
      'attempts about a message',
      [...messages].map(([value, hint]) => ({ value, hint })),
    ),
  ]
  return <Suggestions facets={facets} {...field} />
}

const OUTCOME_VALUES: readonly FacetValue[] = Object.entries(OUTCOMES).map(([value, hint]) => ({ value, hint }))

const facet = (name: string, hint: string, values: readonly FacetValue[]): Facet => ({
  name,
  hint,
  isFoundByValue: true,
  valuesFor: (part) => matching(values, part),
})
