import { Icon } from '../parts/icon.tsx'
import { PhoneNumber } from '../parts/phone-number.tsx'
import { addressOf, address } from '../state/address.ts'
import { clockTime, utcTime } from '../state/clock.ts'
import { Carried } from '../thread/carried.tsx'
import { type ListRow, contactOf, ownNumberOf } from './row.ts'
import { failedText } from './webhook-results.ts'
import { shortWaitingText } from './wait-words.ts'
import { explainedShort, isCancelled, stateOf, undeliveredShort } from './words.ts'

interface MessageRowProps {
  row: ListRow
  isOpen: boolean
  isCursor: boolean
  appName: string
  now: number
}

/** One message in one line: time, state, contact, text, and for what failed or waits, why. */
export function MessageRow({ row, isOpen, isCursor, appName, now }: MessageRowProps) {
  const state = stateOf(row)
  const classes = ['columns row', state.kind, isCursor ? 'cursor' : '', row.direction]
  return (
    <a
      class={classes.join(' ')}
      href={addressOf('messages', { ...address.value.params, id: row.messageId })}
      data-id={row.messageId}
      aria-current={isOpen ? 'true' : undefined}
    >
      <time dateTime={row.createdAt} title={utcTime(row.createdAt)}>
        {clockTime(row.createdAt)}
      </time>
      <span class="line state" title={state.word}>
        <Icon name={state.icon} />
        <span class="word">{state.word}</span>
      </span>
      <PhoneNumber value={contactOf(row)} />
      <span class="text">
        <Carried count={row.attachments} />
        <span class="mask" dir="auto">
          {row.body}
        </span>
        <Reason row={row} now={now} />
      </span>
      <span class="wide-only">
        <PhoneNumber value={ownNumberOf(row)} />
      </span>
      <span class="wide-only">{appName}</span>
    </a>
  )
}

/** Never cut, unlike the text. */
function Reason({ row, now }: { row: ListRow; now: number }) {
  if (row.waiting) return <em>{shortWaitingText(row.waiting, now)}</em>
  if (isCancelled(row.error)) return <em class="said-by-word">cancelled</em>
  if (row.error !== null) return <em>{explainedShort(row.error)}</em>
  const reason = row.deliveryStatus === 'undelivered' ? undeliveredShort(row.deliveryError?.code) : null
  if (reason !== null) return <em>{reason}</em>
  if (row.deliveryStatus === 'undelivered') return <em class="said-by-word">not delivered</em>
  // What was received is fine; that an app did not get it is not.
  const failed = row.webhooks ? failedText(row.webhooks) : null
  return row.direction === 'inbound' && failed !== null ? <em class="bad">{failed}</em> : null
}
