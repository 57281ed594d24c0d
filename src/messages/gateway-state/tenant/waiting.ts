import { setImmediate as nextTick } from 'node:timers/promises'
import type { SendingContext } from '../../sending/context.ts'
import type { SendEngine } from '../../sending/engine.ts'
import { type NumberQueue, READ_AHEAD } from '../../sending/number-queue.ts'
import type { WaitingReason } from '../../../core/waiting-reasons.ts'
import { type Waiting, isUnderWay, reasonInQueue } from '../../sending/waiting.ts'
import type { Backlog } from './backlog.ts'

/** Messages that wait for the same reason. */
export interface WaitingCount {
  reason: WaitingReason
  extensionId: string | null
  /** When the reason ends, epoch milliseconds; null if unknown. */
  until: number | null
  /** When the first pause or outage among them began, epoch milliseconds; null if there is none, or if unknown. */
  began: number | null
  count: number
}

/** A count, and the messages that may be its oldest. */
interface Counted extends WaitingCount {
  /** The lowest job in memory. Jobs are in order of acceptance. */
  jobSeq: number
  /** Queues whose other messages are only in the job table, each with its cursor. */
  tails: { number: string; after: number }[]
  /** When the first scheduled message was accepted. */
  scheduledSince: number | null
}

/** Queues examined in one tick of the event loop. A tenant may have a queue for each message. */
const QUEUES_PER_TICK = 500

/** Counts a tenant's waiting messages by reason. `since`: when the oldest of them was accepted, epoch milliseconds. */
export async function waitingOfTenant(
  engine: SendEngine,
  tenantId: string,
  { numbers, scheduled, scheduledSince }: Backlog,
): Promise<(WaitingCount & { since: number })[]> {
  const { context, scheduler } = engine
  const tenant = await context.directory.tenant(tenantId)
  const found = new Map<string, Counted>()
  const add = (each: Counted): void =>
    merge(
      found,
      tenant.status === 'active' ? each : { ...each, reason: 'suspended', extensionId: null, until: null, began: null },
    )
  for (const [index, queue] of [...scheduler.queues.ofTenant(tenantId)].entries()) {
    waitingOfQueue(engine, queue, numbers.get(queue.number) ?? 0).forEach(add)
    // A queue with thousands of messages in memory takes a whole tick.
    if (index % QUEUES_PER_TICK === QUEUES_PER_TICK - 1 || queue.waiting.length > READ_AHEAD) await nextTick()
  }
  add({ ...counted({ reason: 'scheduled', until: null }, scheduled, null), scheduledSince })
  const since = await readSince(context, tenantId, found)
  return [...found]
    .map(([key, { reason, extensionId, until, began, count, scheduledSince: atFirst }]) => {
      const known = [since.get(key), atFirst].filter((at) => typeof at === 'number')
      // A message may have ended since it was counted.
      return {
        reason,
        extensionId,
        until,
        began,
        count,
        since: known.length > 0 ? Math.min(...known) : context.clock.now(),
      }
    })
    .toSorted((first, second) => second.count - first.count)
}

/** When the oldest message of each count was accepted. */
const SINCE = `SELECT each.value ->> 'key' AS key, min(messages.created_at) AS since FROM json_each(?2) AS each
  CROSS JOIN jobs ON jobs.tenant_id = ?1 AND jobs.seq = coalesce(each.value ->> 'jobSeq', (SELECT min(seq) FROM jobs AS later
    WHERE later.kind = 'send' AND later.lane = each.value ->> 'number' AND later.tenant_id = ?1 AND later.seq > each.value ->> 'after'))
  CROSS JOIN messages ON messages.id = jobs.subject AND messages.tenant_id = ?1 GROUP BY 1`

async function readSince(
  { database }: SendingContext,
  tenantId: string,
  counts: ReadonlyMap<string, Counted>,
): Promise<Map<string, number>> {
  const oldest = [...counts].flatMap(([key, { jobSeq, tails }]) => [
    ...(jobSeq === Infinity ? [] : [{ key, jobSeq }]),
    ...tails.map((tail) => ({ key, ...tail })),
  ])
  if (oldest.length === 0) return new Map()
  const rows = await database.reader.longRead(tenantId, SINCE, [tenantId, JSON.stringify(oldest)])
  return new Map(rows.map((row) => [String(row['key']), Number(row['since'])]))
}

const counted = ({ reason, until, began = null }: Waiting, count: number, extensionId: string | null): Counted => ({
  reason,
  extensionId,
  until,
  began,
  count,
  jobSeq: Infinity,
  tails: [],
  scheduledSince: null,
})

/** `jobs`: how many messages of the queue have not ended. */
function waitingOfQueue(engine: SendEngine, queue: NumberQueue, jobs: number): Counted[] {
  const { tenantId, number, cursor } = queue
  const message = { tenantId, from: number }
  const extensionId = engine.context.directory.known(tenantId)?.numbers.get(number)?.extensionId ?? null
  const next = engine.scheduler.nextOf(queue)
  const inMemory = [...queue.busy, ...queue.waiting]
  const counts = inMemory.flatMap((entry): Counted[] => {
    const waiting = isUnderWay(entry) ? null : reasonInQueue(engine, message, entry, entry === next)
    return waiting === null ? [] : [{ ...counted(waiting, 1, extensionId), jobSeq: entry.jobSeq }]
  })
  const others = Math.max(jobs - inMemory.length, 0)
  const ofOthers = others === 0 ? null : reasonInQueue(engine, message, null, false)
  if (ofOthers !== null) counts.push({ ...counted(ofOthers, others, extensionId), tails: [{ number, after: cursor }] })
  return counts
}

/** Adds a count to the one of the same reason and extension, and keeps the earliest start and the latest end. Leaves out empty counts. */
function merge(found: Map<string, Counted>, each: Counted): void {
  if (each.count === 0) return
  const key = `${each.reason} ${each.extensionId ?? ''}`
  const known = found.get(key)
  if (known === undefined) return void found.set(key, { ...each, tails: [...each.tails] })
  known.until = later(known.until, each.until)
  known.began = earlier(known.began, each.began)
  known.count += each.count
  known.jobSeq = Math.min(known.jobSeq, each.jobSeq)
  known.tails.push(...each.tails)
  known.scheduledSince ??= each.scheduledSince
}

/** Unknown times do not count. */
const earlier = (first: number | null, second: number | null): number | null =>
  first === null || second === null ? (first ?? second) : Math.min(first, second)

const later = (first: number | null, second: number | null): number | null =>
  first === null || second === null ? null : Math.max(first, second)
