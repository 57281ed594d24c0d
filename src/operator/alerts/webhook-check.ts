import { isoTime } from '../../core/clock.ts'
import { HOUR_MS } from '../../core/limits.ts'
import type { Row } from '../../db/connection.ts'
import type { Gateway } from '../../messages/gateway.ts'
import { IS_IN_USE } from '../../messages/usage/destination-rows.ts'
import { readUnposted } from '../../messages/webhooks/unposted.ts'
import type { AlertCheck, AlertCondition } from './condition.ts'

/** A single failure may be caused by its message. A destination fails only after a second one. */
const MIN_FAILURES = 2
const MAX_OF_TENANT = 20
const MAX_CONDITIONS = 200
const MAX_READ = 10_000

/** Finds destinations with an address and at least two failures since their last success, the first of them at least an hour ago. */
export const webhookCheck = ({ database, clock }: Gateway): AlertCheck => ({
  names: ['webhook_failing'],
  find: async () => {
    const rows = await database.reader.longRead('operator', FAILING, [clock.now() - HOUR_MS])
    return rows.map(webhookFailing)
  },
})

/** Finds webhooks that a crash or a takeover interrupted. After a later interruption it is another alert. */
export const interruptedCheck = (gateway: Gateway): AlertCheck => ({
  names: ['webhooks_interrupted'],
  find: async () => {
    const unposted = await readUnposted(gateway)
    if (unposted === null) return []
    const { count, since, noticedAt } = unposted
    const what = count === 1 ? '1 webhook was interrupted' : `${count} webhooks were interrupted`
    return [
      {
        alert: 'webhooks_interrupted',
        subject: String(noticedAt),
        text: `${what}, by a crash, a takeover or a failing disk, and may not have arrived: sgw webhooks recover --since ${isoTime(since)} posts again what failed since then. A retry policy does it by itself.`,
        overText: 'Resolved: the webhooks that were interrupted have been posted again, or a day has passed.',
        detail: { webhooks: count },
        since,
      },
    ]
  },
})

/**
 * Those that have failed for longest, few of each tenant. An outage may affect thousands, which would fill the state and the
 * chat, and one tenant must not hide the others.
 */
const FAILING = `WITH failing AS (
    SELECT own.* FROM webhook_destinations AS own WHERE failing_since <= ?1 AND failures >= ${MIN_FAILURES}
      AND ${IS_IN_USE}
    ORDER BY failing_since LIMIT ${MAX_READ})
  SELECT tenant_id, target_id, kind, failing_since, failures FROM (
    SELECT *, row_number() OVER (PARTITION BY tenant_id ORDER BY failing_since) AS position FROM failing)
  WHERE position <= ${MAX_OF_TENANT} ORDER BY failing_since LIMIT ${MAX_CONDITIONS}`

function webhookFailing(row: Row): AlertCondition {
  const [tenantId, targetId] = [String(row['tenant_id']), String(row['target_id'])]
  const kind = row['kind'] === 'trigger' ? 'trigger' : 'app'
  const name = `The webhook of ${kind} ${targetId} of ${tenantId}`
  const command = `sgw webhooks list --${kind} ${targetId}`
  return {
    alert: 'webhook_failing',
    subject: targetId,
    text: `${name} has failed for an hour: ${command} shows the errors, sgw webhooks recover delivers again.`,
    overText: `Resolved: ${name} works again, or is gone.`,
    detail: {
      tenantId,
      [kind === 'app' ? 'appId' : 'triggerId']: targetId,
      failedAttempts: Number(row['failures']),
    },
    since: Number(row['failing_since']),
  }
}
