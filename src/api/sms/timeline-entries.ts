import { isoTime } from '../../core/clock.ts'
import type { Row } from '../../db/connection.ts'
import { attachmentsOf } from '../../messages/media/attachments.ts'
import { reasonOf } from '../../messages/receipts/delivery-codes.ts'
import type { DeliveryState } from '../../messages/receipts/delivery-status.ts'
import type { TimelineEntry } from './timeline-schema.ts'

/** An entry and its time in epoch milliseconds. */
type Timed = [at: number, entry: Record<string, unknown>]

/** `aheadMs`: the wall clock minus the steady clock. Attempts are stored by the steady clock. `isHeld`: a pause held it until its first call. */
export function outboundEntries(
  message: Row,
  attempts: readonly Row[],
  state: DeliveryState | undefined,
  { aheadMs, isHeld }: { aheadMs: number; isHeld: boolean },
): TimelineEntry[] {
  return inOrder([
    ...acceptance(message),
    ...attempts.map((attempt, index) => attemptEntry(attempt, index + 1, { aheadMs, isHeld: isHeld && index === 0 })),
    ...ending(message),
    ...afterSent(state),
  ])
}

/** `attempts`: of webhooks, oldest first. */
export function inboundEntries(message: Row, attempts: readonly Row[]): TimelineEntry[] {
  return inOrder([
    [Number(message['created_at']), { type: 'received', attachments: attachmentsOf(message['attachments']).length }],
    ...attempts.map((attempt): Timed => {
      const { delivery_id: deliveryId, attempt_number: attemptNumber = 1, outcome } = attempt
      return [Number(attempt['attempted_at']), { type: 'webhook', deliveryId, attemptNumber, outcome }]
    }),
  ])
}

function acceptance(message: Row): Timed[] {
  const at = Number(message['created_at'])
  const { send_at: sendAt } = message
  const scheduled: Timed[] = typeof sendAt === 'number' ? [[at, { type: 'scheduled', sendAt: isoTime(sendAt) }]] : []
  const attachments = attachmentsOf(message['attachments']).length
  return [[at, { type: 'queued', ...(attachments === 0 ? {} : { attachments }) }], ...scheduled]
}

function attemptEntry(attempt: Row, number: number, { aheadMs, isHeld }: { aheadMs: number; isHeld: boolean }): Timed {
  const { outcome, http_status: httpStatus, error_code: errorCode, duration_ms: durationMs, message } = attempt
  const entry = {
    type: 'attempt',
    number,
    outcome,
    ...(httpStatus === null ? {} : { httpStatus }),
    ...(errorCode === null ? {} : { errorCode }),
    durationMs,
    ...(isHeld && { heldBy: 'provider_paused' }),
    ...(message === null ? {} : { message }),
  }
  return [Number(attempt['started_at']) + aheadMs, entry]
}

function ending(message: Row): Timed[] {
  const at = Number(message['updated_at'])
  if (message['status'] === 'sent') return [[at, { type: 'sent', rcMessageId: message['rc_message_id'] }]]
  return message['status'] === 'failed' ? [[at, { type: 'failed', error: message['error'] }]] : []
}

/** `unknown` has no entry, because the provider reported nothing. */
function afterSent(state: DeliveryState | undefined): Timed[] {
  const { conclusion = null, errorCode = null, concludedAt = null } = state ?? {}
  if (concludedAt === null || conclusion === null || conclusion === 'unknown') return []
  if (conclusion === 'delivered') return [[concludedAt, { type: 'delivered' }]]
  const code = errorCode === null ? {} : { errorCode }
  return [[concludedAt, { type: 'undelivered', ...code, reason: reasonOf(errorCode) }]]
}

/** Corrects times so that no entry is earlier than the one before it. The clocks may differ a little, or may have been set. */
function inOrder(timed: readonly Timed[]): TimelineEntry[] {
  const times = timed.map(([at]) => at)
  for (let index = times.length - 2; index >= 0; index--)
    times[index] = Math.min(times[index] ?? 0, times[index + 1] ?? Infinity)
  const first = timed[0]?.[0] ?? 0
  return timed.map(([, entry], index) => ({
    at: isoTime(Math.max(first, times[index] ?? 0)),
    ...entry,
  })) as TimelineEntry[]
}
