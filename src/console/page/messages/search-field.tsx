import type { ExtensionHealth } from '../../../client/client.ts'
import { Loaded } from '../frame/loaded.tsx'
import { spokenNumber } from '../parts/phone-number.tsx'
import { parseSearch } from '../search/parse-search.ts'
import { SearchField } from '../search/search-field.tsx'
import { refine } from '../state/address.ts'
import { problemOf } from './filter-problem.ts'
import { FILTER_NAMES, type FilterName, TABS, filterOfTab, tabOf } from './filter.ts'
import type { MessageList } from './list-state.ts'

const loadSuggestions = async () => (await import('./message-suggestions-view.tsx')).MessageSuggestions

interface MessageSearchProps {
  list: MessageList
  /** Null until they are known. */
  extensions: readonly ExtensionHealth[] | null
}

/** The search field of the messages. A filter that a tab shows is no chip. */
export function MessageSearch({ list, extensions }: MessageSearchProps) {
  const { filter } = list
  const byTab: readonly FilterName[] = tabOf(filter) === null ? [] : ['state', 'status', 'direction']
  return (
    <SearchField
      label="Search messages"
      placeholder="to:+1503…  state:waiting  app:name  after:today"
      chips={FILTER_NAMES.flatMap((name) => {
        const value = filter[name]
        return value === undefined || byTab.includes(name) ? [] : [{ name, value, said: spokenNumber(value) }]
      })}
      read={(typed) => {
        const asked = parseSearch(typed, FILTER_NAMES)
        const problem = problemOf(asked)
        return problem === null ? { asked } : { problem }
      }}
      suggest={(parts) => <Loaded load={loadSuggestions} props={{ ...parts, list, extensions }} around={nothing} />}
    />
  )
}

/** Without suggestions the field still takes what is typed. */
const nothing = (): null => null

/** The list's total stands at the chosen tab. Without a tab for the filter, its chips say it. */
export const Tabs = ({ list: { filter }, total }: { list: MessageList; total: string }) => (
  <nav class="tabs" aria-label="Status">
    {TABS.map((tab) => {
      const isCurrent = tabOf(filter) === tab
      return (
        <button
          key={tab.name}
          type="button"
          {...(isCurrent ? { 'aria-current': 'true' as const } : {})}
          onClick={() => refine({ ...filterOfTab(tab), id: '' })}
        >
          {tab.name}
          {isCurrent && total !== '0' && <b>{total}</b>}
        </button>
      )
    })}
  </nav>
)
