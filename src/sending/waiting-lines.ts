import type { SendEngine } from './engine.ts'
import type { Line } from './line.ts'
import { senderOf } from './sender.ts'

export type WaitingReason =
  | 'suspended'
  | 'scheduled'
  | 'restore'
  | 'reauthorization'
  | 'number_lookup'
  | 'reconciling'
  | 'provider_unreachable'
  | 'provider_paused'
  | 'order'
  | 'number_limit'
  | 'extension_limit'

/** Messages that wait for the same reason. */
export interface WaitingCount {
  reason: WaitingReason
  extensionId: string | null
  /** When the reason ends by itself, epoch milliseconds; null if nobody can say. */
  until: number | null
  count: number
}

const JOBS = `SELECT lane, count(*) AS count FROM jobs WHERE kind = 'send' AND tenant_id = ?1 AND lane IN (SELECT value FROM json_each(?2)) GROUP BY lane`
const QUARANTINED = `SELECT lane, count(*) AS count FROM jobs WHERE kind = 'send' AND tenant_id = ?1 AND is_quarantined = 1
  AND lane IN (SELECT value FROM json_each(?2)) GROUP BY lane`
const SCHEDULED = `SELECT count(*) AS count FROM jobs WHERE kind = 'schedule' AND tenant_id = ?1`

/** Why a tenant's messages wait, line by line, and how many of them are scheduled. */
export async function waitingOfTenant(
  engine: SendEngine,
  tenantId: string,
): Promise<{ scheduled: number; waiting: WaitingCount[] }> {
  const { context, scheduler, quarantine } = engine
  const { gate } = context.database
  const tenant = await context.directory.tenant(tenantId)
  const lines = [...scheduler.lines.ofTenant(tenantId)]
  const args = [tenantId, JSON.stringify(lines.map(({ number }) => number))]
  const countsOf = async (sql: string): Promise<Map<string, number>> => {
    const { rows } = await gate.execute({ sql, args })
    return new Map(rows.map((row) => [String(row['lane']), Number(row['count'])]))
  }
  const jobs = await countsOf(JOBS)
  const quarantined = quarantine.isActive ? await countsOf(QUARANTINED) : new Map<string, number>()
  const { rows } = await gate.execute({ sql: SCHEDULED, args: [tenantId] })
  const scheduled = Number(rows[0]?.['count'] ?? 0)
  const found = lines.flatMap((line) =>
    waitingOfLine(engine, line, jobs.get(line.number) ?? 0, quarantined.get(line.number) ?? 0),
  )
  const all = [...found, one('scheduled', scheduled)]
  const held = all.map((each) => (tenant.status === 'active' ? each : one('suspended', each.count)))
  return { scheduled, waiting: merged(held) }
}

const one = (reason: WaitingReason, count: number, extensionId: string | null = null, until: number | null = null) => ({
  reason,
  extensionId,
  until,
  count,
})

/** `jobs`: all messages of the line that have not ended. Those whose call runs do not wait. */
function waitingOfLine(engine: SendEngine, line: Line, jobs: number, quarantined: number): WaitingCount[] {
  const { context, scheduler } = engine
  const extensionId = context.directory.known(line.tenantId)?.numbers.get(line.number) ?? null
  const unknown = [...line.open].filter(({ attempt }) => attempt !== null && attempt.absentAfter !== null).length
  const waiting = Math.max(jobs - line.open.size - quarantined, 0)
  const before = [one('restore', quarantined, extensionId), one('reconciling', unknown, extensionId)]
  const sender = senderOf(context, line.tenantId, line.number)
  if (sender.type === 'missing') return [...before, one('number_lookup', waiting, extensionId)]
  const status = context.directory.known(line.tenantId)?.extensions.get(extensionId ?? '')?.status
  if (status === 'refresh_failed') return [...before, one('reauthorization', waiting, extensionId)]
  if (extensionId === null) return before
  const until = (ms: number): number | null => (ms > 0 ? Math.ceil(context.clock.now() + ms) : null)
  const pauseMs = context.quota.pauseMs(extensionId, 'medium')
  if (scheduler.extension(extensionId).failures > 0)
    return [...before, one('provider_unreachable', waiting, extensionId, until(pauseMs))]
  if (pauseMs > 0) return [...before, one('provider_paused', waiting, extensionId, until(pauseMs))]
  const numberMs = context.quota.numberWaitMs(line.number)
  const extensionMs = context.quota.extensionWaitMs(extensionId)
  // The oldest waits for the limit; all others wait for the oldest.
  const first = Math.min(waiting, 1)
  const order = one('order', waiting - first, extensionId)
  if (numberMs > 0) return [...before, order, one('number_limit', first, extensionId, until(numberMs))]
  if (extensionMs > 0) return [...before, order, one('extension_limit', first, extensionId, until(extensionMs))]
  return [...before, order]
}

/** One count for each reason and extension, with the latest end; nothing that counts none. */
function merged(all: readonly WaitingCount[]): WaitingCount[] {
  const found = new Map<string, WaitingCount>()
  for (const each of all) {
    const key = `${each.reason} ${each.extensionId ?? ''}`
    const known = found.get(key)
    const until = known === undefined ? each.until : later(known.until, each.until)
    if (each.count > 0) found.set(key, { ...each, until, count: each.count + (known?.count ?? 0) })
  }
  return [...found.values()]
}

const later = (first: number | null, second: number | null): number | null =>
  first === null || second === null ? null : Math.max(first, second)
