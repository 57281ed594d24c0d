import { useEffect } from 'preact/hooks'
import { ListDetail } from '../list/list-detail.tsx'
import { type KeyHint, ListFoot, loadedText } from '../list/list-foot.tsx'
import { useFollowed } from '../parts/following.ts'
import { Masked } from '../parts/masked.tsx'
import { param } from '../state/address.ts'
import { count } from '../state/clock.ts'
import { session } from '../state/session.ts'
import { toAnswer } from '../state/standing.ts'
import { type Pair, isContact, isNumber } from '../thread/contact-forms.ts'
import { answersText, answersTrouble } from './answers.ts'
import { ConversationSearch } from './conversation-search.tsx'
import { ConversationList, keyOf } from './conversation-list.ts'
import { ConversationRow } from './conversation-row.tsx'
import { EmptyConversations } from './empty-conversations.tsx'
import { focusComposer } from '../list/cursor.ts'
import './conversations.css'

const loadConversation = () => import('./conversation-view.tsx')

/** The conversations of your numbers, live, with the open one beside the list. */
export default function ConversationsView() {
  const ends = param('ends')
  const list = useFollowed(ends, (sgw) => new ConversationList(sgw, ends))
  const waiting = ends === '' ? (list?.toAnswer.value ?? null) : null
  useEffect(() => keepCount(waiting), [waiting])
  const pair = openedPair()
  if (list === null) return null
  const isEmpty = !list.isLoading.value && list.total.value === 0 && ends === ''
  return (
    <ListDetail
      view="conversations"
      list={list}
      name="Conversations"
      listKey={ends}
      opened={openedKey}
      paramsOf={pairOf}
      copied={() => param('contact')}
      keys={{ r: focusComposer }}
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
          class: 'stack conversation',
          load: loadConversation,
          props: { pair, listed: list.isLoading.value ? undefined : list.find(pair) },
        }
      }
    />
  )
}

function keepCount(waiting: number | null): void {
  if (waiting !== null) toAnswer.value = answersTrouble(waiting)
}

const HINTS: readonly KeyHint[] = [
  [['j', 'k'], 'move'],
  [['Enter'], 'open'],
  [['r'], 'answer'],
  [['Esc'], 'close'],
]

const Head = ({ list, text }: { list: ConversationList; text: string }) => (
  <header class="list-head">
    <h1 class="sentence">
      <Masked text={text} hides={list.ends} />
    </h1>
    <ConversationSearch list={list} />
  </header>
)

/** How many are waiting for an answer, as the gateway counts them, not only among the loaded rows. */
function sentenceOf(list: ConversationList): string {
  const { ends, total } = list
  const waiting = list.toAnswer.value
  if (list.isLoading.value || total.value === null || waiting === null) return 'Conversations'
  if (ends === '') return answersText(total.value, waiting)
  return `${count(total.value)} ${total.value === 1 ? 'conversation is' : 'conversations are'} with a number that ends with ${ends}.`
}

/** The conversation of the address; null if it names none, or something that cannot be one. */
function openedPair(): Pair | null {
  const [number, contact] = [param('number'), param('contact')]
  return isNumber(number) && isContact(contact) ? { number, contact } : null
}

function openedKey(): string {
  const pair = openedPair()
  return pair === null ? '' : keyOf(pair)
}

/** The two numbers in a key. Only a contact can contain spaces. */
function pairOf(key: string): Record<keyof Pair, string> {
  const [number = ''] = key.split(' ')
  return { number, contact: key.slice(number.length + 1) }
}
