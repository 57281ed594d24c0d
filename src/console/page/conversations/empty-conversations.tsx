import type { ComponentChild } from 'preact'
import { Empty, NoNumber } from '../parts/empty.tsx'
import { NoRows, NothingFound } from '../list/no-rows.tsx'
import { Masked } from '../parts/masked.tsx'
import { addressOf } from '../state/address.ts'
import { standing } from '../state/standing.ts'
import type { ConversationList } from './conversation-list.ts'

interface EmptyConversationsProps {
  list: ConversationList
  /** The content above if there are no conversations and a text can be sent. */
  head: ComponentChild
}

/** The content in place of rows. */
export const EmptyConversations = (props: EmptyConversationsProps) => (
  <NoRows list={props.list} name="Conversations">
    {props.list.ends === '' ? <NoConversations {...props} /> : <NobodyEndsSo ends={props.list.ends} />}
  </NoRows>
)

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
function NoConversations({ head }: EmptyConversationsProps) {
  const numbers = standing.value?.extensions.flatMap(({ phoneNumbers }) => phoneNumbers)
  if (numbers?.length === 0) return <NoNumber title="No number is connected yet." />
  return (
    <>
      {head}
      <Empty
        text="Each contact that you text, or that texts you, appears here with everything that was said. Type a number to start."
        command={numbers === undefined ? null : `sgw send --from ${numbers[0]} --to +15555550199 Hello`}
      />
    </>
  )
}
