import { ListDetail } from '../list/list-detail.tsx'
import { type KeyHint, ListFoot, loadedText } from '../list/list-foot.tsx'
import { useFollowed } from '../parts/following.ts'
import { param } from '../state/address.ts'
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
  const list = useFollowed('', (sgw) => new ConversationList(sgw))
  const pair = openedPair()
  if (list === null) return null
  const isEmpty = !list.isLoading.value && list.total.value === 0
  return (
    <ListDetail
      view="conversations"
      list={list}
      name="Conversations"
      listKey=""
      opened={openedKey}
      paramsOf={pairOf}
      copied={() => param('contact')}
      draw={(row, marks) => (
        <ConversationRow row={row} {...marks} isOneOfSeveral={list.severals.value.has(row.contact)} />
      )}
      head={!isEmpty && <Head list={list} text={sentenceOf(list)} />}
      empty={<EmptyConversations list={list} head={<Head list={list} text="No conversations yet." />} />}
      foot={
        <ListFoot hints={HINTS}>
          {loadedText(list)}
          {session.value?.kind === 'key' && '. Texts that other apps send are not live'}
        </ListFoot>
      }
      detail={
        pair && {
          name: 'Conversation',
          load: loadConversation,
          props: { pair, listed: list.isLoading.value ? undefined : list.find(pair) },
        }
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

/** The conversation of the address; null without one, and for what can be none. */
function openedPair(): Pair | null {
  const [number, contact] = [param('number'), param('contact')]
  return isNumber(number) && isContact(contact) ? { number, contact } : null
}

function openedKey(): string {
  const pair = openedPair()
  return pair === null ? '' : keyOf(pair)
}

/** The pair of a key. Only a contact can have spaces. */
function pairOf(key: string): Record<keyof Pair, string> {
  const [number = ''] = key.split(' ')
  return { number, contact: key.slice(number.length + 1) }
}
