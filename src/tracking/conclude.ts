import type { DeliveryConclusion } from '../db/schema/delivery-states.ts'
import { type DeliveryDetail, deliveryEvent } from '../realtime/event.ts'
import type { TrackingContext } from './context.ts'
import { reasonOf } from './delivery-codes.ts'
import { CONCLUDE, type TrackedMessage } from './delivery-rows.ts'

/** What became of a message. */
export interface Conclusion {
  conclusion: DeliveryConclusion
  errorCode: string | null
}

/** Stores what became of a message, with its event in the same commit, and publishes it. Nothing happens if that was known. */
export async function conclude(
  { database, clock, hub }: Pick<TrackingContext, 'database' | 'clock' | 'hub'>,
  message: TrackedMessage,
  found: Conclusion,
): Promise<void> {
  const now = clock.now()
  const detail = detailOf(found)
  const row = { messageSeq: message.seq, messageId: message.id, ...found, detail: JSON.stringify(detail), now }
  const changed = await database.writer.row(CONCLUDE, row)
  if (changed.length > 0 && hub.isHeard) hub.publish(deliveryEvent(message, detail, now))
}

/** The event's fields that its message does not have. */
const detailOf = ({ conclusion, errorCode }: Conclusion): DeliveryDetail => ({
  deliveryStatus: conclusion,
  ...(errorCode === null ? {} : { errorCode }),
  ...(conclusion === 'undelivered' ? { reason: reasonOf(errorCode) } : {}),
})
