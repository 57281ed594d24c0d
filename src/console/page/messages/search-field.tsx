import type { ExtensionHealth } from '../../../client/client.ts'
import { Loaded } from '../frame/loaded.tsx'
import { spokenNumber } from '../parts/phone-number.tsx'
import { chipsOf, timeSaid } from '../search/filters.ts'
import { now } from '../state/clock.ts'
import { parseSearch } from '../search/parse-search.ts'
import { SearchField } from '../search/search-field.tsx'
import { WORDS, problemOf, tabOf } from './filters.ts'
import type { MessageList } from './list-state.ts'

const loadSuggestions = async () => (await import('./message-suggestions-view.tsx')).MessageSuggestions

interface MessageSearchProps {
  list: MessageList
  /** Null until they are known. */
  extensions: readonly ExtensionHealth[] | null
}

/** The search field of the messages. A filter that a tab shows is no chip. Without suggestions the field still takes what is typed. */
export const MessageSearch = ({ list, extensions }: MessageSearchProps) => (
  <SearchField
    label="Search messages"
    placeholder="to:+1503…  state:waiting  app:name  after:today"
    chips={chipsOf(list.filter, tabOf(list.filter), (value) => spokenNumber(timeSaid(value, now.peek())))}
    read={(typed) => {
      // The last two are words of older versions, which the view makes a state.
      const asked = parseSearch(typed, [...WORDS, 'status', 'direction'])
      return problemOf(asked) ?? asked
    }}
    suggest={(parts) => <Loaded load={loadSuggestions} props={{ ...parts, list, extensions }} around={null} />}
  />
)
