import type { Row } from '../../db/connection.ts'
import type { Gate } from '../../db/gate.ts'
import type { DeliveryConclusion } from '../../db/schema/delivery-states.ts'
import { EVENT_KINDS } from '../../db/schema/events.ts'
import type { JsonRow, RowOperation } from '../../db/writer.ts'
import { storeOptOuts } from '../opt-outs/opt-out-rows.ts'
import type { ExtensionKey } from '../../provider/extension-rows.ts'
import { countUsage } from '../usage/roll-up.ts'

/** The conclusion of a tracked message. */
export interface ConcludeRow extends JsonRow {
  messageSeq: number
  messageId: string
  conclusion: DeliveryConclusion
  errorCode: string | null
  /** JSON: the fields of the event that are not in the message's row. */
  detail: string
  /** When the provider's record was created, by its clock. */
  recordedAt: number
  /** Epoch milliseconds. */
  now: number
}

const IS_OPEN = 'state.message_seq = input.messageSeq AND state.conclusion IS NULL'

const COUNT = countUsage({
  tenantId: 'state.tenant_id',
  appId: 'messages.app_id',
  at: 'input.now',
  counts: { delivered: `input.conclusion = 'delivered'`, undelivered: `input.conclusion = 'undelivered'` },
  from: `FROM input CROSS JOIN delivery_states AS state ON ${IS_OPEN} CROSS JOIN messages ON messages.seq = state.message_seq WHERE true`,
})

/** Comes before the statement that records an opt-out: its event comes second. */
const APPEND_EVENTS = `INSERT INTO events (kinds, subject, at, detail)
  SELECT ${EVENT_KINDS.delivery}, input.messageId, input.now, input.detail FROM input
  CROSS JOIN delivery_states AS state ON ${IS_OPEN}`

const CLOSE = `UPDATE delivery_states SET conclusion = input.conclusion, error_code = input.errorCode, concluded_at = input.now
  FROM input WHERE delivery_states.message_seq = input.messageSeq AND delivery_states.conclusion IS NULL`

/**
 * Concludes messages whose state is open, appends their events and counts them.
 */
export const CONCLUDE: RowOperation<ConcludeRow> = {
  key: 'messageId',
  statements: [COUNT, APPEND_EVENTS, CLOSE],
}

/** The recipients have opted out of the numbers. An opt-in later than the provider's record wins. */
const OPT_OUTS = `SELECT input.messageId AS decisionId, messages.tenant_id AS tenantId, messages.from_number AS number,
    messages.to_number AS contact, 1 AS optedOut, 'provider' AS source, input.recordedAt AS decidedAt, input.now AS now
  FROM input CROSS JOIN delivery_states AS state ON ${IS_OPEN} CROSS JOIN messages ON messages.seq = state.message_seq`

/** `CONCLUDE` for messages whose recipients have opted out; it also records the opt-outs. */
export const CONCLUDE_OPTED_OUT: RowOperation<ConcludeRow> = {
  ...CONCLUDE,
  statements: [COUNT, APPEND_EVENTS, storeOptOuts(OPT_OUTS), CLOSE],
}

/** A message whose delivery state is open. */
export interface TrackedMessage {
  seq: number
  id: string
}

/** A tenant's messages with an open delivery state, by the provider's ids. */
export async function openMessages(
  gate: Gate,
  tenantId: string,
  rcMessageIds: readonly string[],
): Promise<Map<string, TrackedMessage>> {
  const { rows } = await gate.execute({
    sql: `SELECT messages.seq, messages.id, messages.rc_message_id FROM json_each(?2)
      CROSS JOIN messages ON messages.rc_message_id = value AND messages.tenant_id = ?1 AND messages.direction = 'outbound'
      CROSS JOIN delivery_states AS state ON state.message_seq = messages.seq AND state.conclusion IS NULL`,
    args: [tenantId, JSON.stringify(rcMessageIds)],
  })
  return new Map(rows.map((row) => [String(row['rc_message_id']), messageOf(row)]))
}

/** The oldest open messages of an extension that were sent up to `sentUntil`, steady time. */
export async function oldestOpen(
  gate: Gate,
  { tenantId, extensionId }: ExtensionKey,
  sentUntil: number,
  limit: number,
): Promise<TrackedMessage[]> {
  const { rows } = await gate.execute({
    sql: `SELECT messages.seq, messages.id FROM delivery_states AS state INDEXED BY delivery_states_open
      CROSS JOIN messages ON messages.seq = state.message_seq
      WHERE state.conclusion IS NULL AND state.tenant_id = ?1 AND state.extension_id = ?2 AND state.sent_at <= ?3
      ORDER BY state.sent_at LIMIT ?4`,
    args: [tenantId, extensionId, sentUntil, limit],
  })
  return rows.map(messageOf)
}

/** For each of these steady times, the send time of the first open message after it; null if there is none. */
export async function firstSentAfter(
  gate: Gate,
  { tenantId, extensionId }: ExtensionKey,
  times: readonly number[],
): Promise<(number | null)[]> {
  const { rows } = await gate.execute({
    sql: `SELECT (SELECT min(sent_at) FROM delivery_states INDEXED BY delivery_states_open
        WHERE conclusion IS NULL AND tenant_id = ?1 AND extension_id = ?2 AND sent_at > value) AS at
      FROM json_each(?3) ORDER BY key`,
    args: [tenantId, extensionId, JSON.stringify(times)],
  })
  return rows.map(({ at }) => (typeof at === 'number' ? at : null))
}

/** The send time of the open message at offset `count` among those sent at or after `since`; null if there are fewer. Steady times. */
export async function sentAtOffset(
  gate: Gate,
  { tenantId, extensionId }: ExtensionKey,
  since: number,
  count: number,
): Promise<number | null> {
  const { rows } = await gate.execute({
    sql: `SELECT sent_at FROM delivery_states INDEXED BY delivery_states_open
      WHERE conclusion IS NULL AND tenant_id = ?1 AND extension_id = ?2 AND sent_at >= ?3 ORDER BY sent_at LIMIT 1 OFFSET ?4`,
    args: [tenantId, extensionId, since, count],
  })
  const at = rows[0]?.['sent_at']
  return typeof at === 'number' ? at : null
}

/** Every extension that has open messages. The query jumps from one to the next along the index. */
export async function trackedExtensions(gate: Gate): Promise<ExtensionKey[]> {
  const { rows } = await gate.execute(`WITH RECURSIVE firsts (seq) AS (
      SELECT (SELECT message_seq FROM delivery_states INDEXED BY delivery_states_open
        WHERE conclusion IS NULL ORDER BY tenant_id, extension_id LIMIT 1)
      UNION ALL
      SELECT (SELECT message_seq FROM delivery_states INDEXED BY delivery_states_open
        WHERE conclusion IS NULL AND (tenant_id, extension_id) > (here.tenant_id, here.extension_id)
        ORDER BY tenant_id, extension_id LIMIT 1)
      FROM firsts JOIN delivery_states AS here ON here.message_seq = firsts.seq)
    SELECT tenant_id, extension_id FROM delivery_states WHERE message_seq IN (SELECT seq FROM firsts)`)
  return rows.map((row) => ({ tenantId: String(row['tenant_id']), extensionId: String(row['extension_id']) }))
}

const messageOf = (row: Row): TrackedMessage => ({ seq: Number(row['seq']), id: String(row['id']) })
