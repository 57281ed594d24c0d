import { useEffect } from 'preact/hooks'
import { ListDetail } from '../list/list-detail.tsx'
import { type KeyHint, ListFoot, loadedText } from '../list/list-foot.tsx'
import { NoRows, NothingFound } from '../list/no-rows.tsx'
import { Empty, NoNumber } from '../parts/empty.tsx'
import { useFollowed } from '../parts/following.ts'
import { Masked } from '../parts/masked.tsx'
import { addressOf, param } from '../state/address.ts'
import { count } from '../state/clock.ts'
import { session } from '../state/session.ts'
import { standing, toAnswer } from '../state/standing.ts'
import { type Pair, isContact, isNumber } from '../thread/contact-forms.ts'
import { answersText, answersTrouble } from './answers.ts'
import { ConversationSearch } from './conversation-search.tsx'
import { ConversationList, keyOf } from './conversation-list.ts'
import { ConversationRow } from './conversation-row.tsx'
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
      empty={
        <NoRows list={list} name="Conversations">
          {ends === '' ? <NoConversations list={list} /> : <NobodyEndsSo ends={ends} />}
        </NoRows>
      }
      foot={<ListFoot hints={HINTS}>{footText(list)}</ListFoot>}
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

const footText = (list: ConversationList): string =>
  `${loadedText(list)}${session.value?.kind === 'key' ? '. Texts that other apps send are not live' : ''}`

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

/** The digits can also be part of a text, or begin a number that nobody has texted. */
const NobodyEndsSo = ({ ends }: { ends: string }) => (
  <NothingFound
    text={<Masked text={`No contact’s number ends with ${ends}.`} hides={ends} />}
    noun="conversations"
    words={['ends']}
  >
    <p class="dim">To text somebody new, type the whole number with its country code, such as +15035550142.</p>
    <a class="button" href={addressOf('messages', { text: ends })}>
      <Masked text={`Search texts for “${ends}”`} hides={ends} />
    </a>
  </NothingFound>
)

/** What will be here, and how to fill it. Nothing can be sent until a number is connected, so that comes first. */
function NoConversations({ list }: { list: ConversationList }) {
  const numbers = standing.value?.extensions.flatMap(({ phoneNumbers }) => phoneNumbers)
  if (numbers?.length === 0) return <NoNumber title="No number is connected yet." />
  return (
    <>
      <Head list={list} text="No conversations yet." />
      <Empty
        text="Each contact that you text, or that texts you, appears here with everything that was said. Type a number to start."
        command={numbers === undefined ? null : `sgw send --from ${numbers[0]} --to +15555550199 Hello`}
      />
    </>
  )
}
