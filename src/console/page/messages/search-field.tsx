import type { ExtensionHealth } from '../../../client/client.ts'
import { Loaded } from '../frame/loaded.tsx'
import { spokenNumber } from '../parts/phone-number.tsx'
import { chipsOf, timeSaid } from '../search/filters.ts'
import { now } from '../state/clock.ts'
import { failureText } from '../state/failure.ts'
import { SearchField } from '../search/search-field.tsx'
import { tabOf } from './filters.ts'
import type { MessageList } from './list-state.ts'

const loadReading = async () => (await import('./message-suggestions-view.tsx')).askedBy
const loadSuggestions = () => import('./message-suggestions-view.tsx')

interface MessageSearchProps {
  list: MessageList
  /** Null until they are known. */
  extensions: readonly ExtensionHealth[] | null
}

/**
 * The search field of the messages. A filter that a tab shows is not a chip. The suggestions' file, which loads on focus, reads the typed text.
 */
export const MessageSearch = ({ list, extensions }: MessageSearchProps) => (
  <SearchField
    label="Search messages"
    placeholder="0142  words of a text  state:waiting  after:today"
    chips={chipsOf(list.filter, tabOf(list.filter), (value) => spokenNumber(timeSaid(value, now.peek())))}
    read={(typed) =>
      loadReading()
        .then((asked) => asked(typed))
        .catch(failureText)
    }
    suggest={(parts) => <Loaded load={loadSuggestions} props={{ ...parts, list, extensions }} around={null} />}
  />
)
