import { type Signal, useComputed, useSignal } from '@preact/signals'
import { useEffect, useMemo } from 'preact/hooks'
import { useStanding } from '../facts/read-standing.ts'
import { Loaded } from '../frame/loaded.tsx'
import { onViewKey } from '../frame/keys.ts'
import { address, keepInEveryTenant, param } from '../state/address.ts'
import { appIds, appName, client, me } from '../state/caller.ts'
import { count, now } from '../state/clock.ts'
import { session } from '../state/session.ts'
import type { Standing } from '../state/standing.ts'
import { close, moveCursor, onListKey, useIsOpened } from '../list/cursor.ts'
import { FailedDetail } from '../list/failed-detail.tsx'
import { ListDetail } from '../list/list-detail.tsx'
import { type KeyHint, ListFoot } from '../list/list-foot.tsx'
import { Tabs } from '../list/tabs.tsx'
import { copyText } from '../parts/copy.tsx'
import { useFollowing } from '../parts/following.ts'
import { commonWords, filterOf } from '../search/filters.ts'
import { EmptyList } from './empty-list.tsx'
import { FILTERS, type Filter, TABS, WORDS, tabOf } from './filters.ts'
import { MessageList } from './list-state.ts'
import { MessageRow } from './message-row.tsx'
import { MessageSearch } from './search-field.tsx'
import { Sentence } from './sentence.tsx'

const loadRawEvents = async () => (await import('./raw-events-view.tsx')).RawEvents
const loadMessage = async () => (await import('./message-view.tsx')).MessageView

keepInEveryTenant(commonWords(FILTERS))

/** All messages of the tenant, live, with the open one beside them. */
export function MessagesView() {
  const filterKey = useComputed(() => JSON.stringify(filterOf(WORDS, address.value.params)))
  const list = useList(filterKey.value)
  const cursor = useSignal('')
  const isRaw = useSignal(false)
  const standing = useStanding()
  useEffect(() => onViewKey((key) => onKey(key, list, cursor, isRaw)), [list])
  useEffect(() => void (document.title = 'Messages – sgw'), [])
  const id = param('id')
  const isOpened = useIsOpened(id)
  if (list === null) return null
  const move = (step: number): void => moveCursor(list, cursor, step)
  const row = list.rows.value.find(({ messageId }) => messageId === id) ?? null
  return (
    <ListDetail
      list={list}
      name="Messages"
      listKey={filterKey.value}
      cursor={id || cursor.value}
      draw={(each) => (
        <MessageRow
          row={each}
          isOpen={each.messageId === id}
          isCursor={each.messageId === cursor.value}
          appName={appName(each.appId)}
          now={now.peek()}
        />
      )}
      head={<Head list={list} standing={standing} />}
      empty={<EmptyList list={list} extensions={standing?.extensions ?? null} />}
      foot={<Foot list={list} isRaw={isRaw} />}
      detail={
        id === '' ? null : (
          <Loaded
            load={loadMessage}
            props={{ id, row, move, takesFocus: isOpened }}
            around={(failure) => <FailedDetail name="Message" failure={failure} close={close} />}
          />
        )
      }
    />
  )
}

const Head = ({ list, standing }: { list: MessageList; standing: Standing | null }) => (
  <>
    <header class="list-head">
      <Sentence list={list} standing={standing} />
      <MessageSearch list={list} extensions={standing?.extensions ?? null} />
      <Tabs label="Status" tabs={TABS} current={tabOf(list.filter)} total={list.total.value} />
    </header>
    {list.filter.text !== undefined && list.rows.value.length > 0 && <TextNote list={list} />}
  </>
)

const Foot = ({ list, isRaw }: { list: MessageList; isRaw: Signal<boolean> }) => (
  <>
    {isRaw.value && <Loaded load={loadRawEvents} props={{ close: () => void (isRaw.value = false) }} />}
    <ListFoot hints={HINTS}>
      {[shownText(list), isLimitedToApp() && 'Messages of other apps are not live'].filter(Boolean).join('. ')}
    </ListFoot>
  </>
)

const HINTS: readonly KeyHint[] = [
  [['j', 'k'], 'move'],
  [['Esc'], 'close'],
  [['c'], 'copy id'],
  [['e'], 'raw events'],
]

/** How much of the list stands here; '' while that is not known, and where nothing does. */
function shownText({ shown, total, hasMore, filter }: MessageList): string {
  if (total.value === null || shown.value.length === 0) return ''
  if (filter.text !== undefined) return `${count(shown.value.length)} found`
  return hasMore.value
    ? `${count(shown.value.length)} of ${count(total.value)} loaded, more as you scroll`
    : `All ${count(total.value)} loaded`
}

const TextNote = ({ list }: { list: MessageList }) => (
  <p class="list-note">
    “{list.filter.text}” is searched in the {count(list.rows.value.length)} loaded messages only.
    {list.hasMore.value && (
      <button type="button" class="link" onClick={() => void list.loadMore()}>
        Load more
      </button>
    )}
  </p>
)

/** The list of the filter; a changed filter or app makes another one. */
function useList(filterKey: string): MessageList | null {
  const sgw = client.value
  const list = useMemo(() => {
    return sgw === null ? null : new MessageList(sgw, JSON.parse(filterKey) as Filter, appIds.value)
  }, [filterKey, sgw])
  const load = (): void => void list?.load()
  useFollowing(list, load, () => list?.error.value !== '' && load())
  return list
}

/** An app's key hears the events of its own messages alone. */
const isLimitedToApp = (): boolean => session.value?.kind === 'key' && param('app') !== me.value?.name

function onKey(key: string, list: MessageList | null, cursor: Signal<string>, isRaw: Signal<boolean>): boolean {
  if (list === null) return false
  if (key === 'e') isRaw.value = !isRaw.value
  else return onListKey(key, list, cursor, { view: 'messages', copy: (id) => void copyText(id) })
  return true
}
