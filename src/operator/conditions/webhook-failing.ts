import { HOUR_MS } from '../../core/limits.ts'
import type { Row } from '../../db/connection.ts'
import { IS_IN_USE } from '../../messages/usage/destination-rows.ts'
import { type Condition, type ConditionSource, MAX_OF_SOURCE, MAX_OF_TENANT } from './condition.ts'

/** A single failure may be the message's fault, so a destination counts as failing only after a second one. */
const MIN_FAILURES = 2
const MAX_READ = 10_000

/** A destination with an address has had at least two failures since its last success, the first of them at least an hour ago. */
export const webhookFailing: ConditionSource = {
  alert: 'webhook_failing',
  check: 'webhooks',
  find: async ({ database, clock }) =>
    (await database.reader.longRead('operator', FAILING, [clock.now() - HOUR_MS])).map(conditionOf),
}

/** The destinations that have failed for longest, a few of each tenant. */
const FAILING = `WITH failing AS (
    SELECT own.* FROM webhook_destinations AS own WHERE failing_since <= ?1 AND failures >= ${MIN_FAILURES}
      AND ${IS_IN_USE}
    ORDER BY failing_since LIMIT ${MAX_READ})
  SELECT tenant_id, target_id, kind, failing_since, failures FROM (
    SELECT *, row_number() OVER (PARTITION BY tenant_id ORDER BY failing_since) AS position FROM failing)
  WHERE position <= ${MAX_OF_TENANT} ORDER BY failing_since LIMIT ${MAX_OF_SOURCE}`

function conditionOf(row: Row): Condition {
  const [tenantId, targetId] = [String(row['tenant_id']), String(row['target_id'])]
  const kind = row['kind'] === 'trigger' ? 'trigger' : 'app'
  const name = `The webhook of ${kind} ${targetId} of ${tenantId}`
  return {
    subject: targetId,
    level: 'warn',
    what: `${name} has failed for an hour`,
    fix: `sgw webhooks list --${kind} ${targetId} shows the errors. Once they are fixed, sgw webhooks recover delivers again.`,
    overText: `Resolved: ${name} works again, or is gone. sgw webhooks list --${kind} ${targetId} --state never_arrived shows what never arrived.`,
    detail: { tenantId, [kind === 'app' ? 'appId' : 'triggerId']: targetId, failedAttempts: Number(row['failures']) },
    since: Number(row['failing_since']),
  }
}
