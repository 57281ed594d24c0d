import { setImmediate as nextTick } from 'node:timers/promises'
import { HOUR_MS } from '../core/limits.ts'
import type { Row } from '../db/connection.ts'
import type { Gateway } from '../gateway.ts'
import type { Condition, Check } from './condition.ts'
import type { WebhookFailures } from './state.ts'

const ROWS_PER_STEP = 1000
/** A POST takes at most 5 s. An attempt that is open for longer was interrupted. */
const OPEN_MS = 60_000
/** A single failure may be caused by its message. A destination fails only after a second one. */
const MIN_FAILURES = 2
const MAX_OF_TENANT = 20
const MAX_CONDITIONS = 200

type Failure = WebhookFailures['failing'][string]

/**
 * Finds destinations with at least two failures since their last success, the first of them at least an hour ago. The check
 * keeps `failures` up to date.
 */
export const webhookCheck = (gateway: Gateway, failures: WebhookFailures): Check => ({
  names: ['webhook_failing'],
  find: async () => {
    await readAttempts(gateway, failures)
    const before = gateway.clock.now() - HOUR_MS
    const old = Object.entries(failures.failing).filter(([, one]) => one.since <= before)
    const wanted = await wantedAmong(
      gateway,
      old.map(([targetId]) => targetId),
    )
    for (const [targetId] of old) if (!wanted.has(targetId)) delete failures.failing[targetId]
    const found = old.filter(([targetId, one]) => wanted.has(targetId) && one.count >= MIN_FAILURES)
    return firstOfEach(found).map(([targetId, one]) => webhookFailing(targetId, one))
  },
})

/**
 * Those that have failed for longest, few of each tenant. An outage may affect thousands, which would fill the state and the
 * chat, and one tenant must not hide the others.
 */
function firstOfEach(found: readonly [string, Failure][]): [string, Failure][] {
  const perTenant = new Map<string, number>()
  const ordered = found.toSorted(([, one], [, other]) => one.since - other.since)
  const chosen = ordered.filter(([, { tenantId }]) => {
    const count = (perTenant.get(tenantId) ?? 0) + 1
    perTenant.set(tenantId, count)
    return count <= MAX_OF_TENANT
  })
  return chosen.slice(0, MAX_CONDITIONS)
}

/** Reads the attempts since the last check, in order. The first check begins with the newest one. */
async function readAttempts({ database, clock }: Gateway, failures: WebhookFailures): Promise<void> {
  if (failures.through === null) {
    const { rows } = await database.gate.execute('SELECT max(seq) AS seq FROM deliveries')
    failures.through = Number(rows[0]?.['seq'] ?? 0)
  }
  for (;;) {
    const { rows } = await database.gate.execute({
      sql: `SELECT seq, tenant_id, kind, target_id, outcome, attempted_at FROM deliveries WHERE seq > ?1 ORDER BY seq LIMIT ?2`,
      args: [failures.through, ROWS_PER_STEP],
    })
    const isOpen = (row: Row): boolean => row['outcome'] === null && Number(row['attempted_at']) > clock.now() - OPEN_MS
    const firstOpen = rows.findIndex(isOpen)
    for (const row of firstOpen === -1 ? rows : rows.slice(0, firstOpen)) note(failures, row)
    if (firstOpen !== -1 || rows.length < ROWS_PER_STEP) return
    await nextTick()
  }
}

function note(failures: WebhookFailures, row: Row): void {
  failures.through = Number(row['seq'])
  const targetId = String(row['target_id'])
  if (row['outcome'] === 'success') return void delete failures.failing[targetId]
  const known = failures.failing[targetId]
  const since = known?.since ?? Number(row['attempted_at'])
  failures.failing[targetId] = {
    since,
    count: (known?.count ?? 0) + 1,
    tenantId: String(row['tenant_id']),
    kind: kindOf(row),
  }
}

const kindOf = (row: Row): 'app' | 'trigger' => (row['kind'] === 'trigger' ? 'trigger' : 'app')

/** The destinations that still have an address. */
async function wantedAmong({ database }: Gateway, targetIds: readonly string[]): Promise<Set<string>> {
  if (targetIds.length === 0) return new Set()
  const { rows } = await database.gate.execute({
    sql: `SELECT id FROM apps WHERE id IN (SELECT value FROM json_each(?1)) AND is_active = 1 AND webhook_url IS NOT NULL
      UNION ALL SELECT id FROM triggers WHERE id IN (SELECT value FROM json_each(?1))`,
    args: [JSON.stringify(targetIds)],
  })
  return new Set(rows.map((row) => String(row['id'])))
}

function webhookFailing(targetId: string, { since, count, tenantId, kind }: Failure): Condition {
  const name = `The webhook of ${kind} ${targetId} of ${tenantId}`
  return {
    alert: 'webhook_failing',
    subject: targetId,
    text: `${name} has failed for an hour: GET /v1/webhook-deliveries shows the errors.`,
    overText: `Resolved: ${name} works again, or is gone.`,
    detail: { tenantId, [kind === 'app' ? 'appId' : 'triggerId']: targetId, failedAttempts: count },
    holdMs: 0,
    since,
  }
}
