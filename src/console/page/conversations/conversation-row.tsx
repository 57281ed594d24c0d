import type { Conversation } from '../../../client/client.ts'
import type { Marks } from '../list/list-detail.tsx'
import { Row } from '../list/row.tsx'
import { Reason } from '../messages/reason.tsx'
import { stateOf } from '../messages/words.ts'
import { PhoneNumber } from '../parts/phone-number.tsx'
import { address, addressOf } from '../state/address.ts'
import { now } from '../state/clock.ts'
import { Carried } from '../thread/carried.tsx'
import { isNumber } from '../thread/contact-forms.ts'
import { waitsForAnswer } from './answers.ts'
import { keyOf } from './conversation-list.ts'

interface ConversationRowProps extends Marks {
  row: Conversation
  /** Whether the contact talks with more than one of the tenant's numbers: then the number identifies the conversation. */
  isOneOfSeveral: boolean
}

/** A conversation in one line: the time and fate of its newest text, the contact, the text, what is to be known about it, and the tenant's number. */
export function ConversationRow({ row, isOneOfSeveral, ...marks }: ConversationRowProps) {
  const { number, contact, lastMessage, optedOut } = row
  const { body, attachments, createdAt, direction } = lastMessage
  const state = stateOf(lastMessage)
  const kind = `conversing ${state.kind} ${waitsForAnswer(row, now.peek()) ? 'to-answer' : ''}`
  const href = addressOf('conversations', { ...address.value.params, number, contact })
  return (
    <Row id={keyOf(row)} at={createdAt} class={kind} {...{ href, state, ...marks }}>
      <PhoneNumber value={contact} />
      <span class="text">
        <Carried count={attachments} />
        <span class="mask" dir="auto">
          {body || (attachments ? '' : 'No text')}
        </span>
        <Reason row={lastMessage} />
        {optedOut && <em>opted out</em>}
        {direction === 'inbound' && !isNumber(contact) && <em>cannot be answered</em>}
        {isOneOfSeveral && (
          <em class="via">
            via <PhoneNumber value={number} />
          </em>
        )}
      </span>
      <span class="wide-only">
        <PhoneNumber value={number} />
      </span>
    </Row>
  )
}
