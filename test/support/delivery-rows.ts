import { CLOSE_ATTEMPT, CLOSE_FAILED_ATTEMPT } from '../../src/messages/webhooks/delivery-rows.ts'
import { latencyClass } from '../../src/messages/usage/latency.ts'
import type { World } from './world.ts'

export interface DeliveryRow {
  messageId: string
  kind: 'app' | 'trigger'
  targetId: string
  outcome: 'success' | 'http_error' | 'timeout' | 'network_error'
  attemptedAt: number
  tenantId?: string
  attemptNumber?: number
  url?: string
  statusCode?: number
  durationMs?: number
}

/** Writes attempts directly into the log. */
export async function insertDeliveries(world: World, rows: readonly DeliveryRow[]): Promise<void> {
  const sql = `INSERT INTO webhook_attempts (delivery_id, attempt_number, tenant_id, kind, target_id, message_id, correlation_id, url, boot_id, attempted_at, outcome, duration_ms, is_unresolved)
    SELECT value ->> 'messageId' || ':' || (value ->> 'targetId'), coalesce(value ->> 'attemptNumber', 1), coalesce(value ->> 'tenantId', ?2), value ->> 'kind', value ->> 'targetId',
      value ->> 'messageId', 'cor_0', coalesce(value ->> 'url', 'http://127.0.0.1/'), 'boot_0', value ->> 'attemptedAt', value ->> 'outcome', 1, CASE WHEN value ->> 'outcome' <> 'success' THEN 1 END FROM json_each(?1)`
  await world.gateway.database.writer.write([{ sql, args: [JSON.stringify(rows), world.tenantId] }])
}

/** Writes attempts as `insertDeliveries` does, and ends them as the gateway does. */
export async function endDeliveries(world: World, rows: readonly DeliveryRow[]): Promise<void> {
  const { gate, writer } = world.gateway.database
  const newest = async (): Promise<number> =>
    Number((await gate.execute('SELECT coalesce(max(seq), 0) AS seq FROM webhook_attempts')).rows[0]?.['seq'])
  const before = await newest()
  await insertDeliveries(world, rows)
  await gate.execute({
    sql: 'UPDATE webhook_attempts SET outcome = NULL, is_unresolved = NULL WHERE seq > ?1',
    args: [before],
  })
  await Promise.all(
    rows.map(({ outcome, statusCode = null, durationMs = 1, tenantId = world.tenantId }, index) => {
      const ended = { attemptSeq: before + 1 + index, jobSeq: null, outcome, statusCode, durationMs }
      const result = {
        ...ended,
        errorClass: null,
        errorMessage: null,
        snippet: null,
        latencyMs: latencyClass(durationMs),
      }
      return outcome === 'success'
        ? writer.row(CLOSE_ATTEMPT, result)
        : writer.row(CLOSE_FAILED_ATTEMPT, { ...result, tenantId, ...NO_RETRY })
    }),
  )
}

const NO_RETRY = { goneTriggerId: null, shortDueAt: null, standardDueAt: null } as const

/** Returns the message id of a number, in the contract's form. */
export const messageIdOf = (n: number): string => `msg_${n.toString(16).padStart(12, '0')}`
