import type { ReadTurns } from '../db/read-turns.ts'
import { type JobReads, countLine, countScheduled } from './count-jobs.ts'
import type { SendEngine } from './engine.ts'
import { type Line, READ_AHEAD } from './line.ts'
import { type Waiting, type WaitingReason, heldEntry, isUnderWay, nextOf } from './waiting.ts'

/** Messages that wait for the same reason. */
export interface WaitingCount {
  reason: WaitingReason
  extensionId: string | null
  /** When the reason ends by itself, epoch milliseconds; null if that is not known. */
  until: number | null
  count: number
}

/** Lines that are counted in one turn of the event loop: some 2 ms. A tenant may have a line for each message. */
const LINES_PER_TURN = 50

const QUARANTINED = `SELECT lane, count(*) AS count FROM jobs WHERE kind = 'send' AND tenant_id = ?1 AND is_quarantined = 1 GROUP BY lane`

/** Counts a tenant's waiting messages by reason, and its scheduled messages. */
export async function waitingOfTenant(
  engine: SendEngine,
  turns: ReadTurns,
  tenantId: string,
): Promise<{ scheduled: number; waiting: WaitingCount[] }> {
  const { context, scheduler, quarantine } = engine
  const tenant = await context.directory.tenant(tenantId)
  const lines = [...scheduler.lines.ofTenant(tenantId)]
  const reads = { gate: context.database.gate, turns }
  const quarantined = quarantine.isActive ? await countQuarantined(reads, tenantId) : new Map<string, number>()
  const scheduled = await countScheduled(reads, tenantId)
  const found = new Map<string, WaitingCount>()
  const add = (each: WaitingCount): void =>
    merge(found, tenant.status === 'active' ? each : counted('suspended', each.count))
  for (const [index, line] of lines.entries()) {
    const jobs = await countLine(reads, line)
    waitingOfLine(engine, line, jobs, quarantined.get(line.number) ?? 0).forEach(add)
    // A line that holds thousands of messages in memory takes a turn of its own.
    if (index % LINES_PER_TURN === LINES_PER_TURN - 1 || line.waiting.length > READ_AHEAD) await turns.next(tenantId)
  }
  add(counted('scheduled', scheduled))
  return { scheduled, waiting: [...found.values()].toSorted((first, second) => second.count - first.count) }
}

async function countQuarantined({ gate }: JobReads, tenantId: string): Promise<Map<string, number>> {
  const { rows } = await gate.execute({ sql: QUARANTINED, args: [tenantId] })
  return new Map(rows.map((row) => [String(row['lane']), Number(row['count'])]))
}

const counted = (
  reason: WaitingReason,
  count: number,
  extensionId: string | null = null,
  until: number | null = null,
) => ({
  reason,
  extensionId,
  until,
  count,
})

/** `jobs`: how many messages of the line have not ended. `quarantined`: how many of them are quarantined. */
function waitingOfLine(engine: SendEngine, line: Line, jobs: number, quarantined: number): WaitingCount[] {
  const { tenantId, number } = line
  const message = { tenantId, from: number }
  const extensionId = engine.context.directory.known(tenantId)?.numbers.get(number) ?? null
  const next = nextOf(engine, line)
  const inMemory = [...line.open, ...line.waiting].filter(({ isQuarantined }) => !isQuarantined)
  const waiting = inMemory
    .filter((entry) => !isUnderWay(entry))
    .map((entry) => heldEntry(engine, message, entry, entry === next))
  const others = Math.max(jobs - quarantined - inMemory.length, 0)
  const reasonOfOthers = others === 0 ? null : heldEntry(engine, message, null, false)
  const countedAs = (held: Waiting | null, count: number): WaitingCount[] =>
    held === null ? [] : [counted(held.reason, count, extensionId, held.until)]
  return [
    counted('restore', quarantined, extensionId),
    ...waiting.flatMap((held) => countedAs(held, 1)),
    ...countedAs(reasonOfOthers, others),
  ]
}

/** Adds a count to that of the same reason and extension, and keeps the latest end. Leaves out empty counts. */
function merge(found: Map<string, WaitingCount>, each: WaitingCount): void {
  if (each.count === 0) return
  const key = `${each.reason} ${each.extensionId ?? ''}`
  const known = found.get(key)
  const until = known === undefined ? each.until : later(known.until, each.until)
  found.set(key, { ...each, until, count: each.count + (known?.count ?? 0) })
}

const later = (first: number | null, second: number | null): number | null =>
  first === null || second === null ? null : Math.max(first, second)
