import { z } from 'zod'
import { time } from '../fields/answer-fields.ts'
import { isoTime } from '../../core/clock.ts'
import type { Gateway } from '../../messages/gateway.ts'
import { WAITING_REASONS, type WaitingMessage, waitingOf } from '../../messages/sending/waiting.ts'

/** Why a message has not been sent yet, as the API returns it. */
export const ShownWaiting = z
  .object({
    reason: z.enum(WAITING_REASONS).meta({ id: 'WaitingReason' }),
    until: time.optional().meta({ description: 'When that ends by itself, if it is known' }),
  })
  .meta({ id: 'Waiting' })
  .nullable()
  .meta({ description: 'Why the message has not been sent yet; null if nothing holds it' })
export type ShownWaiting = z.infer<typeof ShownWaiting>

/** Returns the scheduler's reason for a message of this status. */
export async function shownWaiting(gateway: Gateway, status: unknown, message: WaitingMessage): Promise<ShownWaiting> {
  if (status !== 'queued' && status !== 'sending') return null
  const waiting = await waitingOf(gateway.sending, message)
  if (waiting === null) return null
  return { reason: waiting.reason, ...(waiting.until === null ? {} : { until: isoTime(waiting.until) }) }
}
