import type { ReadTurns } from '../db/read-turns.ts'
import { type JobReads, countQueue, countScheduled } from './count-jobs.ts'
import type { EngineParts } from './engine-parts.ts'
import { type NumberQueue, READ_AHEAD } from './number-queue.ts'
import { type Waiting, type WaitingReason, isUnderWay, reasonInQueue } from './waiting.ts'

/** Messages that wait for the same reason. */
export interface WaitingCount {
  reason: WaitingReason
  extensionId: string | null
  /** When the reason ends by itself, epoch milliseconds; null if that is not known. */
  until: number | null
  count: number
}

/** Queues that are counted in one tick of the event loop: about 2 ms. A tenant may have a queue for each message. */
const QUEUES_PER_TURN = 50

const QUARANTINED = `SELECT lane, count(*) AS count FROM jobs WHERE kind = 'send' AND tenant_id = ?1 AND is_quarantined = 1 GROUP BY lane`

/** Counts a tenant's waiting messages by reason, and its scheduled messages. */
export async function waitingOfTenant(
  engine: EngineParts,
  turns: ReadTurns,
  tenantId: string,
): Promise<{ scheduled: number; waiting: WaitingCount[] }> {
  const { context, scheduler, quarantine } = engine
  const tenant = await context.directory.tenant(tenantId)
  const queues = [...scheduler.queues.ofTenant(tenantId)]
  const reads = { gate: context.database.gate, turns }
  const quarantined = quarantine.isActive ? await countQuarantined(reads, tenantId) : new Map<string, number>()
  const scheduled = await countScheduled(reads, tenantId)
  const found = new Map<string, WaitingCount>()
  const add = (each: WaitingCount): void =>
    merge(found, tenant.status === 'active' ? each : counted('suspended', each.count))
  for (const [index, queue] of queues.entries()) {
    const jobs = await countQueue(reads, queue)
    waitingOfQueue(engine, queue, jobs, quarantined.get(queue.number) ?? 0).forEach(add)
    // A queue that holds thousands of messages in memory takes a turn of its own.
    if (index % QUEUES_PER_TURN === QUEUES_PER_TURN - 1 || queue.waiting.length > READ_AHEAD) await turns.next(tenantId)
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

/** `jobs`: how many messages of the queue have not ended. `quarantined`: how many of them are quarantined. */
function waitingOfQueue(engine: EngineParts, queue: NumberQueue, jobs: number, quarantined: number): WaitingCount[] {
  const { tenantId, number } = queue
  const message = { tenantId, from: number }
  const extensionId = engine.context.directory.known(tenantId)?.numbers.get(number) ?? null
  const next = engine.scheduler.nextOf(queue)
  const inMemory = [...queue.busy, ...queue.waiting].filter(({ isQuarantined }) => !isQuarantined)
  const inMemoryReasons = inMemory
    .filter((entry) => !isUnderWay(entry))
    .map((entry) => reasonInQueue(engine, message, entry, entry === next))
  const others = Math.max(jobs - quarantined - inMemory.length, 0)
  const reasonOfOthers = others === 0 ? null : reasonInQueue(engine, message, null, false)
  const countedAs = (waiting: Waiting | null, count: number): WaitingCount[] =>
    waiting === null ? [] : [counted(waiting.reason, count, extensionId, waiting.until)]
  return [
    counted('restore', quarantined, extensionId),
    ...inMemoryReasons.flatMap((reason) => countedAs(reason, 1)),
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
