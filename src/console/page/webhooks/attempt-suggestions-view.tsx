import { facetsOf } from '../search/facet.ts'
import type { FacetValue } from '../search/filters.ts'
import type { FieldParts } from '../search/search-field.tsx'
import { Suggestions } from '../search/suggestions.tsx'
import type { DeliveryList } from './delivery-list.ts'
import type { Destination } from './destination.ts'
import { FILTERS, SUGGESTED } from './filters.ts'
import { eventOf, shortUrl } from './words.ts'

export { readSearch } from './filters.ts'

interface AttemptSuggestionsProps extends FieldParts {
  list: DeliveryList
  destinations: readonly Destination[] | null
}

/** What the field can filter by, with values from the loaded rows. */
export default function AttemptSuggestions({ list, destinations, ...field }: AttemptSuggestionsProps) {
  const targets = (kind: Destination['kind']): FacetValue[] =>
    (destinations ?? [])
      .filter((each) => each.kind === kind)
      .map(({ id, name, url }) => ({ value: id, label: kind === 'app' ? name : id, hint: shortUrl(url) }))
  const messages = new Map(list.rows.value.map((row) => [row.messageId, eventOf(row)]))
  const values = {
    apps: () => targets('app'),
    triggers: () => targets('trigger'),
    messages: () => [...messages].map(([value, hint]) => ({ value, hint })),
  }
  return <Suggestions facets={facetsOf(FILTERS, SUGGESTED, values)} {...field} />
}
