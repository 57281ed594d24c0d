import { LAST_ATTEMPT_MS } from '../../core/limits.ts'
import type { AttemptOutcome, MessageStatus } from '../../db/schema/messages.ts'
import type { Gateway } from '../../gateway.ts'

/** An outbound message as its delivery sees it, with its current attempt. */
export interface OutboundMessage {
  id: string
  tenantId: string
  appId: string
  from: string
  to: string
  body: string
  status: MessageStatus
  createdAt: number
  /** When its first attempt began; null before. */
  firstAttemptAt: number | null
  attempt: Attempt | null
}

export interface Attempt {
  id: string
  extensionId: string
  number: number
  bootId: string
  startedAt: number
  settleAt: number | null
  outcome: AttemptOutcome | null
}

/** For how long, on the steady clock, the message may still be tried. */
export const tryingLeftMs = (message: OutboundMessage, now: number): number =>
  Math.max(0, (message.firstAttemptAt ?? now) + LAST_ATTEMPT_MS - now)

/** Reads messages and their current attempts, all of a pick in one query. */
export async function loadOutbound(gateway: Gateway, ids: string[]): Promise<Map<string, OutboundMessage>> {
  const { rows } = await gateway.database.gate.execute({
    sql: `SELECT m.id, m.tenant_id, m.app_id, m.from_number, m.to_number, m.body, m.status, m.created_at,
        (SELECT min(started_at) FROM send_attempts AS f WHERE m.attempt_id IS NOT NULL AND f.message_id = m.id) AS first_attempt_at,
        a.id AS attempt_id, a.extension_id, a.number, a.boot_id, a.started_at, a.settle_at, a.outcome
      FROM json_each(?1) JOIN messages AS m ON m.id = value
      LEFT JOIN send_attempts AS a ON a.message_id = m.id AND a.id = m.attempt_id`,
    args: [JSON.stringify(ids)],
  })
  return new Map(rows.map((row) => [String(row['id']), toMessage(row)]))
}

function toMessage(row: Record<string, unknown>): OutboundMessage {
  return {
    id: String(row['id']),
    tenantId: String(row['tenant_id']),
    appId: String(row['app_id']),
    from: String(row['from_number']),
    to: String(row['to_number']),
    body: String(row['body']),
    status: row['status'] as MessageStatus,
    createdAt: Number(row['created_at']),
    firstAttemptAt: row['first_attempt_at'] === null ? null : Number(row['first_attempt_at']),
    attempt: row['attempt_id'] === null ? null : toAttempt(row),
  }
}

function toAttempt(row: Record<string, unknown>): Attempt {
  return {
    id: String(row['attempt_id']),
    extensionId: String(row['extension_id']),
    number: Number(row['number']),
    bootId: String(row['boot_id']),
    startedAt: Number(row['started_at']),
    settleAt: row['settle_at'] === null ? null : Number(row['settle_at']),
    outcome: row['outcome'] as AttemptOutcome | null,
  }
}
