import type { DeliveryAttempt } from '../../../client/client.ts'
import type { Marks } from '../list/list-detail.tsx'
import { Row } from '../list/row.tsx'
import { address, addressOf } from '../state/address.ts'
import { duration } from '../state/clock.ts'
import { eventOf, shortReason, shortUrl } from './words.ts'

interface DeliveryRowProps extends Marks {
  row: DeliveryAttempt
  /** The app's name, or `Trigger`. */
  name: string
  /** Whether the attempt may not be the delivery's last: then its number is not the count. */
  isAttempt: boolean
}

/** One delivery in one line, by its newest attempt: time, outcome, destination, what was posted, how many attempts, and why it failed. */
export function DeliveryRow({ row, name, isAttempt, ...marks }: DeliveryRowProps) {
  const { deliveryId, attemptedAt, outcome } = row
  const isGood = outcome === 'success'
  const state = { icon: isGood ? 'sent' : 'failed', word: isGood ? 'Delivered' : 'Failed' } as const
  const href = addressOf('webhooks', { ...address.value.params, id: deliveryId })
  return (
    <Row id={deliveryId} at={attemptedAt} class={isGood ? 'delivery' : 'delivery bad'} {...{ href, state, ...marks }}>
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
    </Row>
  )
}
