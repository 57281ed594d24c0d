import type { Marks } from '../list/list-detail.tsx'
import { Row } from '../list/row.tsx'
import { PhoneNumber } from '../parts/phone-number.tsx'
import { addressOf, address } from '../state/address.ts'
import { appName } from '../state/caller.ts'
import { Carried } from '../thread/carried.tsx'
import { Reason } from './reason.tsx'
import { type ListRow, contactOf, ownNumberOf } from './row.ts'
import { stateOf } from './words.ts'

/** One message in one line: time, state, contact, text, and why it failed or waits. */
export function MessageRow({ row, ...marks }: Marks & { row: ListRow }) {
  const { messageId, createdAt, direction } = row
  const state = stateOf(row)
  const href = addressOf('messages', { ...address.value.params, id: messageId })
  return (
    <Row id={messageId} at={createdAt} class={`${state.kind} ${direction}`} {...{ href, state, ...marks }}>
      <PhoneNumber value={contactOf(row)} />
      <span class="text">
        <Carried count={row.attachments} />
        <span class="mask" dir="auto">
          {row.body}
        </span>
        <Reason row={row} />
      </span>
      <span class="wide-only">
        <PhoneNumber value={ownNumberOf(row)} />
      </span>
      <span class="wide-only">{appName(row.appId)}</span>
    </Row>
  )
}
