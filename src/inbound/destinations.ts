import { MAX_DESTINATIONS_PER_COMMIT } from '../core/limits.ts'
import type { DeliveryKind } from '../db/schema/webhooks.ts'

/** The apps or the triggers that an inbound message is delivered to. */
export interface Destinations {
  table: 'apps' | 'triggers'
  /** SQL condition on a row of the table. */
  wanted(row: string): string
}

export const DESTINATIONS: Readonly<Record<DeliveryKind, Destinations>> = {
  app: {
    table: 'apps',
    // The first bit of webhook_events is sms_inbound; null means sms_inbound alone.
    wanted: (row) =>
      `${row}.is_active = 1 AND ${row}.webhook_url IS NOT NULL AND (${row}.webhook_events IS NULL OR ${row}.webhook_events & 1)`,
  },
  trigger: { table: 'triggers', wanted: () => 'true' },
}

/** Columns of the `webhook` job of the row `destination` and the message `messages`; see the table of jobs. */
export const WEBHOOK_JOB = `'webhook', destination.id, messages.tenant_id, messages.id || ':' || destination.id`

/** SQL that joins, as `destination`, the destinations that fit into a commit that begins at `from`. */
export function joinDestinations(kind: DeliveryKind, from: string): string {
  const { table, wanted } = DESTINATIONS[kind]
  return `CROSS JOIN ${table} AS destination ON destination.seq IN (SELECT own.seq FROM ${table} AS own
    WHERE own.tenant_id = tenants.id AND own.seq >= ${from} AND ${wanted('own')} ORDER BY own.seq LIMIT ${MAX_DESTINATIONS_PER_COMMIT})`
}

/** SQL for the `seq` of the first destination that does not fit into a commit that begins at `from`; NULL if all fit. */
export function nextDestination(kind: DeliveryKind, tenantId: string, from: string): string {
  const { table, wanted } = DESTINATIONS[kind]
  return `(SELECT own.seq FROM ${table} AS own WHERE own.tenant_id = ${tenantId} AND own.seq >= ${from} AND ${wanted('own')}
    ORDER BY own.seq LIMIT 1 OFFSET ${MAX_DESTINATIONS_PER_COMMIT})`
}
