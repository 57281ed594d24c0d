import type { DeliveryAttempt } from '../../../client/client.ts'
import { Icon } from '../parts/icon.tsx'
import { address, addressOf } from '../state/address.ts'
import { clockTime, duration, utcTime } from '../state/clock.ts'
import { OUTCOMES, eventOf, shortReason, shortUrl } from './words.ts'

interface DeliveryRowProps {
  row: DeliveryAttempt
  /** The app's name, or `Trigger`. */
  name: string
  /** Whether the attempt may not be the delivery's last: then its number is not the count. */
  isAttempt: boolean
  isOpen: boolean
  isCursor: boolean
}

/** One delivery in one line, by its newest attempt: time, outcome, destination, what was posted, how many attempts, and why it failed. */
export function DeliveryRow({ row, name, isAttempt, isOpen, isCursor }: DeliveryRowProps) {
  const isGood = row.outcome === 'success'
  return (
    <a
      class={`columns row delivery ${isGood ? '' : 'bad'} ${isCursor ? 'cursor' : ''}`}
      href={addressOf('webhooks', { ...address.value.params, id: row.deliveryId })}
      data-id={row.deliveryId}
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
          {isAttempt ? `, attempt ${row.attemptNumber}` : row.attemptNumber > 1 && `, ${row.attemptNumber} attempts`}
          <span class="dim not-on-phone"> {shortUrl(row.url)}</span>
        </span>
        {!isGood && <em class="bad">{shortReason(row)}</em>}
      </span>
      <span class="wide-only mono">{row.messageId}</span>
      <span class="wide-only measure">{duration(row.durationMs)}</span>
    </a>
  )
}
