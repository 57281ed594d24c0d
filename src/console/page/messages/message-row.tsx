import { Icon } from '../parts/icon.tsx'
import { PhoneNumber } from '../parts/phone-number.tsx'
import { addressOf, address } from '../state/address.ts'
import { clockTime, utcTime } from '../state/clock.ts'
import { Carried } from '../thread/carried.tsx'
import { Reason } from './reason.tsx'
import { type ListRow, contactOf, ownNumberOf } from './row.ts'
import { stateOf } from './words.ts'

interface MessageRowProps {
  row: ListRow
  isOpen: boolean
  isCursor: boolean
  appName: string
  now: number
}

/** One message in one line: time, state, contact, text, and why it failed or waits. */
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
