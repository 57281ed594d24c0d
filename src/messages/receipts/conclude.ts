import type { DeliveryConclusion } from '../../db/schema/delivery-states.ts'
import type { ConclusionDetail } from '../realtime/event.ts'
import { decidedAtOf } from '../../provider/provider-time.ts'
import type { ReceiptContext } from './context.ts'
import { meansOptedOut, reasonOf } from './delivery-codes.ts'
import { CONCLUDE, CONCLUDE_OPTED_OUT, type TrackedMessage } from './state-rows.ts'

/** What happened to the message after `sent`. */
export interface Conclusion {
  conclusion: DeliveryConclusion
  errorCode: string | null
  /** When the provider's record was created, by its clock; 0 without a record. */
  recordedAt: number
}

/**
 * Stores what happened to a message, its event, and an opt-out if the error code means one, in one commit. Does nothing if the message was
 * already concluded.
 */
export async function conclude(
  { database, clock, provider }: Pick<ReceiptContext, 'database' | 'clock' | 'provider'>,
  message: TrackedMessage,
  conclusion: Conclusion,
): Promise<void> {
  const found = { ...conclusion, recordedAt: decidedAtOf({ clock, provider }, conclusion.recordedAt) }
  const now = clock.now()
  const detail = detailOf(found)
  const optedOut = meansOptedOut(found.errorCode)
  const row = { messageSeq: message.seq, messageId: message.id, ...found, detail: JSON.stringify(detail), now }
  await database.writer.row(optedOut ? CONCLUDE_OPTED_OUT : CONCLUDE, row)
}

/** The fields of the event that are not in the message's row. */
const detailOf = ({ conclusion, errorCode }: Conclusion): ConclusionDetail => ({
  deliveryStatus: conclusion,
  ...(errorCode === null ? {} : { errorCode }),
  ...(conclusion === 'undelivered' ? { reason: reasonOf(errorCode) } : {}),
})
