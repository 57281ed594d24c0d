import { Icon } from '../parts/icon.tsx'
import { PhoneNumber } from '../parts/phone-number.tsx'
import { stateOf } from '../messages/words.ts'
import { addressOf } from '../state/address.ts'
import { Carried } from '../thread/carried.tsx'
import { clockTime, utcTime } from '../state/clock.ts'
import { type ListedConversation, keyOf } from './conversation-list.ts'

interface ConversationRowProps {
  row: ListedConversation
  isOpen: boolean
  isCursor: boolean
  /** Whether the contact talks with more than one of our numbers, which then says which conversation it is. */
  isOneOfSeveral: boolean
}

/** A conversation in one line: when its newest text came, what became of that, the contact, the text, and our number. */
export function ConversationRow({ row, isOpen, isCursor, isOneOfSeveral }: ConversationRowProps) {
  const { number, contact, lastMessage, optedOut } = row
  const state = stateOf({ ...lastMessage, error: lastMessage.error ?? null })
  return (
    <a
      class={`columns row conversing ${state.kind} ${isCursor ? 'cursor' : ''} ${lastMessage.direction}`}
      href={addressOf('conversations', { number, contact })}
      data-id={keyOf(row)}
      aria-current={isOpen ? 'true' : undefined}
    >
      <time dateTime={lastMessage.createdAt} title={utcTime(lastMessage.createdAt)}>
        {clockTime(lastMessage.createdAt)}
      </time>
      <span class="line state" title={state.word}>
        <Icon name={state.icon} />
        <span class="word">{state.word}</span>
      </span>
      <PhoneNumber value={contact} />
      <span class="text">
        <Carried count={lastMessage.attachments} />
        <span class="mask" dir="auto">
          {lastMessage.body || (lastMessage.attachments ? '' : 'No text')}
        </span>
        {optedOut && <em>opted out</em>}
        {isOneOfSeveral && (
          <em class="via">
            via <PhoneNumber value={number} />
          </em>
        )}
      </span>
      <span class="wide-only">
        <PhoneNumber value={number} />
      </span>
    </a>
  )
}
