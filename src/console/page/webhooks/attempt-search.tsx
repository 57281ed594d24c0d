import { Loaded } from '../frame/loaded.tsx'
import { chipsOf } from '../search/filters.ts'
import { SearchField } from '../search/search-field.tsx'
import { failureText } from '../state/failure.ts'
import type { DeliveryList } from './delivery-list.ts'
import type { Destination } from './destination.ts'
import { tabOf } from './filters.ts'

const loadReading = async () => (await import('./attempt-suggestions-view.tsx')).readSearch
const loadSuggestions = () => import('./attempt-suggestions-view.tsx')

interface AttemptSearchProps {
  list: DeliveryList
  /** Null until they are known. */
  destinations: readonly Destination[] | null
  nameOf: (target: string) => string
}

/** The search field of the attempts. The outcome is a tab, not a chip; apps appear by name. */
export const AttemptSearch = ({ list, destinations, nameOf }: AttemptSearchProps) => (
  <SearchField
    label="Search deliveries"
    placeholder="app:name  outcome:timeout  message:msg_…"
    chips={chipsOf(list.filter, tabOf(list.filter), nameOf)}
    read={(typed) =>
      loadReading()
        .then((read) => read(typed, destinations ?? []))
        .catch(failureText)
    }
    suggest={(parts) => <Loaded load={loadSuggestions} props={{ ...parts, list, destinations }} around={null} />}
  />
)
