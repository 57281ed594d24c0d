import type { DeliveryAttempt } from '../../../client/client.ts'
import { Icon } from '../parts/icon.tsx'
import { address, addressOf } from '../state/address.ts'
import { clockTime, duration, utcTime } from '../state/clock.ts'
import { keyOf } from './filters.ts'
import { OUTCOMES, eventOf, shortReason, shortUrl } from './words.ts'

interface AttemptRowProps {
  row: DeliveryAttempt
  /** The app's name, or `Trigger`. */
  name: string
  isOpen: boolean
  isCursor: boolean
}

/** One attempt in one line: time, outcome, destination, what was posted, and why it failed. */
export function AttemptRow({ row, name, isOpen, isCursor }: AttemptRowProps) {
  const isGood = row.outcome === 'success'
  const key = keyOf(row)
  return (
    <a
      class={`columns row attempt ${isGood ? '' : 'bad'} ${isCursor ? 'cursor' : ''}`}
      href={addressOf('webhooks', { ...address.value.params, id: key })}
      data-id={key}
      aria-current={isOpen ? 'true' : undefined}
    >
      <time dateTime={row.attemptedAt} title={utcTime(row.attemptedAt)}>
        {clockTime(row.attemptedAt)}
      </time>
      <span class="line state" title={OUTCOMES[row.outcome]}>
        <Icon name={isGood ? 'sent' : 'failed'} />
        <span class="word">{OUTCOMES[row.outcome]}</span>
      </span>
      <span class="number" title={row.url}>
        {name}
      </span>
      <span class="text">
        <span>
          {eventOf(row)}
          {row.attemptNumber > 1 && `, attempt ${row.attemptNumber}`}
          <span class="dim not-on-phone"> {shortUrl(row.url)}</span>
        </span>
        {!isGood && <em class="bad">{shortReason(row)}</em>}
      </span>
      <span class="wide-only mono">{row.messageId}</span>
      <span class="wide-only measure">{duration(row.durationMs)}</span>
    </a>
  )
}
