import type { Caller } from '../../core/caller.ts'
import { apiError } from '../../core/errors.ts'
import { MAX_LISTED } from '../../core/limits.ts'
import type { Row } from '../../db/connection.ts'
import { readerOf } from '../../db/reader.ts'
import type { Gateway } from '../../messages/gateway.ts'
import { deliveryStatusOf, loadDeliveryStates } from '../../messages/receipts/delivery-status.ts'
import { WAS_CALLED } from '../../messages/sending/outbound-message.ts'
import { heldByPause } from './held-by-pause.ts'
import type { Timeline } from './timeline-schema.ts'
import { inboundEntries, outboundEntries } from './timeline-entries.ts'
import { shownWaiting } from '../../messages/sending/waiting.ts'

/** Returns what happened to one message of the caller's tenant, and why it waits. Errors: `messageNotFound`. */
export async function readTimeline(gateway: Gateway, caller: Caller, messageId: string): Promise<Timeline> {
  const message = await readMessage(gateway, caller, messageId)
  const isOutbound = message['direction'] === 'outbound'
  return isOutbound ? outbound(gateway, caller, message) : inbound(gateway, caller, message)
}

async function readMessage({ database }: Gateway, { tenantId }: Caller, messageId: string): Promise<Row> {
  const sql = 'SELECT * FROM messages WHERE tenant_id = ?1 AND id = ?2'
  const { rows } = await database.gate.execute({ sql, args: [tenantId, messageId] })
  const [message] = rows
  if (message === undefined) throw apiError('messageNotFound')
  return message
}

async function outbound(gateway: Gateway, { tenantId }: Caller, message: Row): Promise<Timeline> {
  const { database, clock, receipts } = gateway
  const messageId = String(message['id'])
  const state = (await loadDeliveryStates(readerOf(database.gate), tenantId, [messageId])).get(messageId)
  const { rows: attempts } = await database.gate.execute({
    // The outcome of an unfinished call is unknown.
    sql: `SELECT seq, extension_id, started_at, coalesce(outcome, 'unknown') AS outcome, http_status, error_code, duration_ms, message FROM send_attempts
      WHERE message_id = ?1 AND tenant_id = ?2 AND ${WAS_CALLED} ORDER BY seq`,
    args: [messageId, tenantId],
  })
  // Attempts are stored by the steady clock.
  const aheadMs = clock.now() - clock.steady()
  const [first] = attempts
  const freeAt = Math.max(Number(message['created_at']), sendAtOf(message) ?? 0) - aheadMs
  const isHeld = first !== undefined && (await heldByPause(gateway, { tenantId, first, freeAt }))
  return {
    messageId,
    status: message['status'] as Timeline['status'],
    deliveryStatus: deliveryStatusOf(message['status'], state, receipts.isPending(Number(message['updated_at']))),
    waiting: await shownWaiting(gateway.sending, message['status'], {
      id: messageId,
      tenantId,
      from: String(message['from_number']),
      to: String(message['to_number']),
      sendAt: sendAtOf(message),
    }),
    entries: outboundEntries(message, attempts, state, { aheadMs, isHeld }),
  }
}

/** Epoch milliseconds; null if the message was not scheduled. */
const sendAtOf = (message: Row): number | null => (typeof message['send_at'] === 'number' ? message['send_at'] : null)

async function inbound(gateway: Gateway, { tenantId }: Caller, message: Row): Promise<Timeline> {
  const messageId = String(message['id'])
  const entries = inboundEntries(message, await webhookAttempts(gateway, tenantId, messageId))
  return { messageId, status: message['status'] as Timeline['status'], deliveryStatus: null, waiting: null, entries }
}

/** The newest webhook attempts of a message that have ended. A delivery that was repeated often may have many thousands. */
const ATTEMPTS = `SELECT delivery_id, attempt_number, attempted_at, outcome FROM webhook_attempts
  WHERE delivery_id > ?1 || ':' AND delivery_id < ?1 || ';' AND +tenant_id = ?2 AND outcome IS NOT NULL
  ORDER BY attempted_at DESC, seq DESC LIMIT ${MAX_LISTED}`

/** The attempts, oldest first. */
const webhookAttempts = async ({ database }: Gateway, tenantId: string, messageId: string): Promise<Row[]> =>
  (await database.reader.longRead(tenantId, ATTEMPTS, [messageId, tenantId])).toReversed()
