import { type Signal, useSignal } from '@preact/signals'
import { useEffect, useMemo } from 'preact/hooks'
import { onViewKey } from '../frame/keys.ts'
import { Loaded } from '../frame/loaded.tsx'
import { focusRow, isOnControl, moveRows, useIsOpened } from '../list/cursor.ts'
import { FailedDetail } from '../list/failed-detail.tsx'
import { ListDetail } from '../list/list-detail.tsx'
import { type KeyHint, ListFoot } from '../list/list-foot.tsx'
import { copyText } from '../parts/copy.tsx'
import { useFollowing } from '../parts/following.ts'
import { open, param, refine } from '../state/address.ts'
import { client } from '../state/caller.ts'
import { count } from '../state/clock.ts'
import { session } from '../state/session.ts'
import { type Pair, isContact, isNumber } from '../thread/pair.ts'
import { answersText } from './answers.ts'
import { ContactField } from './contact-field.tsx'
import { ConversationList, keyOf } from './conversation-list.ts'
import { ConversationRow } from './conversation-row.tsx'
import { EmptyConversations } from './empty-conversations.tsx'
import './conversations.css'

const loadConversation = async () => (await import('./conversation-view.tsx')).ConversationView

/** Who your numbers talk with: the conversations, live, with the open one beside them. */
export function ConversationsView() {
  const list = useList()
  const cursor = useSignal('')
  const pair = openedPair()
  const opened = pair === null ? '' : keyOf(pair)
  const isOpened = useIsOpened(opened)
  useEffect(() => onViewKey((key) => onKey(key, list, cursor)), [list])
  useEffect(() => void (document.title = 'Conversations – sgw'), [])
  if (list === null) return null
  const isEmpty = !list.isLoading.value && list.total.value === 0
  return (
    <ListDetail
      list={list}
      name="Conversations"
      listKey=""
      cursor={opened || cursor.value}
      draw={(row) => (
        <ConversationRow
          row={row}
          isOpen={keyOf(row) === opened}
          isCursor={keyOf(row) === cursor.value}
          isOneOfSeveral={list.severals.value.has(row.contact)}
        />
      )}
      head={!isEmpty && <Head list={list} text={sentenceOf(list)} />}
      empty={<EmptyConversations list={list} head={<Head list={list} text="No conversations yet." />} />}
      foot={
        <ListFoot hints={HINTS}>
          {shownText(list)}
          {session.value?.kind === 'key' && '. Texts that other apps send are not live'}
        </ListFoot>
      }
      detail={
        pair === null ? null : (
          <Loaded
            load={loadConversation}
            props={{ pair, listed: list.isLoading.value ? undefined : list.find(pair), close, takesFocus: isOpened }}
            around={(failure) => <FailedDetail name="Conversation" failure={failure} close={close} />}
          />
        )
      }
    />
  )
}

const HINTS: readonly KeyHint[] = [
  [['j', 'k'], 'move'],
  [['Enter'], 'open'],
  [['Esc'], 'close'],
]

const Head = ({ list, text }: { list: ConversationList; text: string }) => (
  <header class="list-head">
    <h1 class="sentence">{text}</h1>
    <ContactField list={list} />
  </header>
)

/** What the list says of its rows. Only where all of it is loaded is it known who wrote last. */
function sentenceOf({ rows, total, hasMore, isLoading }: ConversationList): string {
  if (isLoading.value || total.value === null) return 'Conversations'
  if (hasMore.value) return `${count(total.value)} conversations, the newest first.`
  return answersText(rows.value)
}

/** How much of the list stands here; '' while that is not known, and for nothing. */
function shownText({ rows, total, hasMore }: ConversationList): string {
  if (!total.value) return ''
  return hasMore.value
    ? `${count(rows.value.length)} of ${count(total.value)} loaded, more as you scroll`
    : `All ${count(total.value)} loaded`
}

/** The conversation of the address; null without one, and for what can be none. */
function openedPair(): Pair | null {
  const [number, contact] = [param('number'), param('contact')]
  return isNumber(number) && isContact(contact) ? { number, contact } : null
}

/** Closes the open conversation; the focus returns to its row. */
function close(): void {
  const pair = openedPair()
  refine({ number: '', contact: '' })
  if (pair !== null) focusRow(keyOf(pair))
}

/** The tenant's conversations; another app makes another list. */
function useList(): ConversationList | null {
  const sgw = client.value
  const list = useMemo(() => (sgw === null ? null : new ConversationList(sgw)), [sgw])
  const load = (): void => void list?.load()
  useFollowing(list, load, () => list?.error.value !== '' && load())
  return list
}

function onKey(key: string, list: ConversationList | null, cursor: Signal<string>): boolean {
  if (list === null) return false
  const pair = openedPair()
  const opened = pair === null ? '' : keyOf(pair)
  const show = ({ number, contact }: Pair): void => refine({ number, contact })
  if (key === 'j') moveRows(list, cursor, opened, 1, show)
  else if (key === 'k') moveRows(list, cursor, opened, -1, show)
  else if (key === 'Enter' && cursor.value !== '' && cursor.value !== opened && !isOnControl())
    openRow(list, cursor.value)
  else if (key === 'Escape' && opened !== '') close()
  else if (key === 'c' && pair !== null) void copyText(pair.contact)
  else return false
  return true
}

function openRow(list: ConversationList, key: string): void {
  const row = list.rows.value.find((each) => keyOf(each) === key)
  if (row !== undefined) open('conversations', { number: row.number, contact: row.contact })
}
