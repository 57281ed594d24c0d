import { setImmediate as nextTick } from 'node:timers/promises'
import type { EngineParts } from './engine-parts.ts'
import { type NumberQueue, READ_AHEAD } from './number-queue.ts'
import type { Backlog } from './tenant-backlog.ts'
import { type Waiting, type WaitingReason, isUnderWay, reasonInQueue } from './waiting.ts'

/** Messages that wait for the same reason. */
export interface WaitingCount {
  reason: WaitingReason
  extensionId: string | null
  /** When the reason ends by itself, epoch milliseconds; null if that is not known. */
  until: number | null
  count: number
}

/** Queues that are looked at in one tick of the event loop. A tenant may have a queue for each message. */
const QUEUES_PER_TICK = 500

/** Counts a tenant's waiting messages by reason. */
export async function waitingOfTenant(
  engine: EngineParts,
  tenantId: string,
  { numbers, scheduled }: Backlog,
): Promise<WaitingCount[]> {
  const { context, scheduler } = engine
  const tenant = await context.directory.tenant(tenantId)
  const found = new Map<string, WaitingCount>()
  const add = (each: WaitingCount): void =>
    merge(found, tenant.status === 'active' ? each : counted('suspended', each.count))
  for (const [index, queue] of [...scheduler.queues.ofTenant(tenantId)].entries()) {
    waitingOfQueue(engine, queue, numbers.get(queue.number) ?? 0).forEach(add)
    // A queue that holds thousands of messages in memory takes a tick of its own.
    if (index % QUEUES_PER_TICK === QUEUES_PER_TICK - 1 || queue.waiting.length > READ_AHEAD) await nextTick()
  }
  add(counted('scheduled', scheduled))
  return [...found.values()].toSorted((first, second) => second.count - first.count)
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

/** `jobs`: how many messages of the queue have not ended. */
function waitingOfQueue(engine: EngineParts, queue: NumberQueue, jobs: number): WaitingCount[] {
  const { tenantId, number } = queue
  const message = { tenantId, from: number }
  const extensionId = engine.context.directory.known(tenantId)?.numbers.get(number) ?? null
  const next = engine.scheduler.nextOf(queue)
  const inMemory = [...queue.busy, ...queue.waiting]
  const inMemoryReasons = inMemory
    .filter((entry) => !isUnderWay(entry))
    .map((entry) => reasonInQueue(engine, message, entry, entry === next))
  const others = Math.max(jobs - inMemory.length, 0)
  const reasonOfOthers = others === 0 ? null : reasonInQueue(engine, message, null, false)
  const countedAs = (waiting: Waiting | null, count: number): WaitingCount[] =>
    waiting === null ? [] : [counted(waiting.reason, count, extensionId, waiting.until)]
  return [...inMemoryReasons.flatMap((reason) => countedAs(reason, 1)), ...countedAs(reasonOfOthers, others)]
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
