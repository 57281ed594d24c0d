import { now } from '../state/clock.ts'
import type { ListRow } from './row.ts'
import { failedText } from './webhook-results.ts'
import { shortWaitingText } from './wait-words.ts'
import { explainedShort, isCancelled, undeliveredShort } from './words.ts'

/** The fields of a message that show why it failed or waits. */
type ReasonRow = Pick<ListRow, 'direction'> &
  Partial<Pick<ListRow, 'error' | 'waiting' | 'deliveryStatus' | 'deliveryError' | 'webhooks'>>

/** Why a message failed or waits, in the rows of messages and of conversations. Never cut, unlike the text. */
export function Reason({ row }: { row: ReasonRow }) {
  const { direction, error = null, waiting, deliveryStatus, webhooks } = row
  if (waiting) return <em>{shortWaitingText(waiting, now.peek())}</em>
  if (isCancelled(error)) return <em class="said-by-word">cancelled</em>
  if (error !== null) return <em>{explainedShort(error)}</em>
  const reason = deliveryStatus === 'undelivered' ? undeliveredShort(row.deliveryError?.code) : null
  if (reason !== null) return <em>{reason}</em>
  if (deliveryStatus === 'undelivered') return <em class="said-by-word">not delivered</em>
  // A received message is fine; that an app did not get it is not.
  const failed = webhooks ? failedText(webhooks) : null
  return direction === 'inbound' && failed !== null ? <em class="bad">{failed}</em> : null
}
