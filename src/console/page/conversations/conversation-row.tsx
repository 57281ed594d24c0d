import { Icon } from '../parts/icon.tsx'
import { PhoneNumber } from '../parts/phone-number.tsx'
import { Reason } from '../messages/reason.tsx'
import { stateOf } from '../messages/words.ts'
import { address, addressOf } from '../state/address.ts'
import { clockTime, now, utcTime } from '../state/clock.ts'
import { Carried } from '../thread/carried.tsx'
import { isNumber } from '../thread/contact-forms.ts'
import { waitsForAnswer } from './answers.ts'
import { type ListedConversation, keyOf } from './conversation-list.ts'

interface ConversationRowProps {
  row: ListedConversation
  isOpen: boolean
  isCursor: boolean
  /** Whether the contact talks with more than one of the tenant's numbers: then the number identifies the conversation. */
  isOneOfSeveral: boolean
}

/** A conversation in one line: the time and outcome of its newest text, the contact, the text, and the tenant's number. */
export function ConversationRow({ row, isOpen, isCursor, isOneOfSeveral }: ConversationRowProps) {
  const { number, contact, lastMessage } = row
  const state = stateOf(lastMessage)
  const at = now.peek()
  const classes = [
    'columns row conversing',
    state.kind,
    isCursor ? 'cursor' : '',
    waitsForAnswer(row, at) ? 'to-answer' : '',
  ]
  return (
    <a
      class={classes.join(' ')}
      href={addressOf('conversations', { ...address.value.params, number, contact })}
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
      <Newest row={row} now={at} isOneOfSeveral={isOneOfSeveral} />
      <span class="wide-only">
        <PhoneNumber value={number} />
      </span>
    </a>
  )
}

interface NewestProps extends Pick<ConversationRowProps, 'row' | 'isOneOfSeveral'> {
  now: number
}

/** The newest text, and what to know about it. */
const Newest = ({ row: { number, contact, lastMessage, optedOut }, now: at, isOneOfSeveral }: NewestProps) => (
  <span class="text">
    <Carried count={lastMessage.attachments} />
    <span class="mask" dir="auto">
      {lastMessage.body || (lastMessage.attachments ? '' : 'No text')}
    </span>
    <Reason row={lastMessage} now={at} />
    {optedOut && <em>opted out</em>}
    {lastMessage.direction === 'inbound' && !isNumber(contact) && <em>cannot be answered</em>}
    {isOneOfSeveral && (
      <em class="via">
        via <PhoneNumber value={number} />
      </em>
    )}
  </span>
)
