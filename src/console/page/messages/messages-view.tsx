import type { ComponentChild } from 'preact'
import { useLayoutEffect } from 'preact/hooks'
import { useStanding } from '../facts/read-standing.ts'
import { Loaded } from '../frame/loaded.tsx'
import { address, keepInEveryTenant, param, refine } from '../state/address.ts'
import { appIds, me } from '../state/caller.ts'
import { count, now } from '../state/clock.ts'
import { failureText } from '../state/failure.ts'
import { isFirstLoadOver } from '../state/live.ts'
import { session } from '../state/session.ts'
import { ListDetail } from '../list/list-detail.tsx'
import { type KeyHint, ListFoot, loadedText } from '../list/list-foot.tsx'
import { NoRows } from '../list/no-rows.tsx'
import { Tabs } from '../list/tabs.tsx'
import { useFollowed } from '../parts/following.ts'
import { spokenNumber } from '../parts/phone-number.tsx'
import { chipsOf, commonWords, filterOf, timeSaid } from '../search/filters.ts'
import { SearchField } from '../search/search-field.tsx'
import { FILTERS, type Filter, TABS, WORDS, stateOfLink, tabOf } from './filters.ts'
import { MessageList } from './list-state.ts'
import type { ReasonsPart } from './reasons-view.tsx'
import { MessageRow } from './message-row.tsx'
import { Sentence } from './sentence.tsx'

const loadEmpty = () => import('./empty-view.tsx')
const loadLooked = () => import('./looked-view.tsx')
const loadReasons = () => import('./reasons-view.tsx')
const loadMessage = () => import('./message-view.tsx')
const loadSuggestions = () => import('./message-suggestions-view.tsx')

keepInEveryTenant(commonWords(FILTERS))

/** All messages of the tenant, live, with the open one beside them. */
export default function MessagesView() {
  const { params } = address.value
  useLayoutEffect(() => {
    if (params['status'] || params['direction'])
      refine({ status: '', direction: '', state: stateOfLink(params) || (params['state'] ?? '') })
  }, [params])
  const filter: Filter = filterOf(WORDS, params)
  const filterKey = JSON.stringify(filter)
  const list = useFollowed(filterKey, (sgw) => new MessageList(sgw, filter, appIds.value))
  const { state, failure, text } = filter
  // Failures are grouped by reason, unless the filter names one.
  const isByReason = state === 'failed' && !failure && !text && param('group') !== 'none' && list?.total.value !== 0
  // The groups show the same without it, so the first load stays small.
  useStanding(!isByReason || isFirstLoadOver.value)
  const id = param('id')
  if (list === null) return null
  const row = list.rows.value.find(({ messageId }) => messageId === id) ?? null
  const reasons = (part: ReasonsPart) => <Loaded load={loadReasons} props={{ part, list, isByReason }} />
  return (
    <ListDetail
      view="messages"
      list={list}
      name="Messages"
      listKey={filterKey}
      draw={(each, marks) => <MessageRow row={each} {...marks} />}
      head={<Head list={list} isByReason={isByReason} reasons={reasons} />}
      instead={isByReason && reasons('rows')}
      empty={<Empty list={list} />}
      foot={!isByReason && <Foot list={list} />}
      detail={id === '' ? null : { name: 'Message', load: loadMessage, props: { id, row } }}
    />
  )
}

/** Too few digits are not a failure. */
function Empty({ list }: { list: MessageList }) {
  const empty = <Loaded load={loadEmpty} props={{ list }} />
  if (/too many contacts/.test(list.error.value)) return empty
  return (
    <NoRows list={list} name="Messages">
      {empty}
    </NoRows>
  )
}

interface HeadProps {
  list: MessageList
  isByReason: boolean
  reasons: (part: ReasonsPart) => ComponentChild
}

/** A filter that a tab shows is not a chip. The suggestions' file, which loads on focus, reads what is typed. */
const Head = ({ list, isByReason, reasons }: HeadProps) => (
  <>
    <header class="list-head">
      {isByReason ? reasons('head') : <Sentence list={list} />}
      <SearchField
        label="Search messages"
        placeholder="0142  words of a text  state:waiting  after:today"
        chips={chipsOf(list.filter, tabOf(list.filter), (value) => spokenNumber(timeSaid(value, now.peek())))}
        read={(typed) =>
          loadSuggestions()
            .then(({ askedBy }) => askedBy(typed))
            .catch(failureText)
        }
        suggest={(parts) => <Loaded load={loadSuggestions} props={{ ...parts, list }} around={null} />}
      />
      <Tabs label="Status" tabs={TABS} current={tabOf(list.filter)} total={list.total.value} />
      {list.filter.state === 'failed' && reasons('by')}
    </header>
    {list.filter.text !== undefined && <Loaded key={JSON.stringify(list.filter)} load={loadLooked} props={{ list }} />}
  </>
)

const Foot = ({ list }: { list: MessageList }) => (
  <ListFoot hints={HINTS}>
    {[shownText(list), isLimitedToApp() && 'Messages of other apps are not live'].filter(Boolean).join('. ')}
  </ListFoot>
)

const HINTS: readonly KeyHint[] = [
  [['j', 'k'], 'move'],
  [['Esc'], 'close'],
  [['c'], 'copy id'],
]

const shownText = (list: MessageList): string =>
  list.filter.text && list.shown.value.length > 0 ? `${count(list.shown.value.length)} found` : loadedText(list)

/** An app's key gets only the events of its own messages. */
const isLimitedToApp = (): boolean => session.value?.kind === 'key' && param('app') !== me.value?.name
