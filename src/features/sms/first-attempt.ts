import { DONE, type Job, type JobOutcome } from '../../jobs/job.ts'
import type { Reservation } from '../../jobs/reservation.ts'
import { errorName } from '../../core/log.ts'
import type { Gateway } from '../../gateway.ts'
import { type AcceptRow, type KeptRequest, keptRequest } from './accept-rows.ts'
import { callProvider } from './call-provider.ts'
import { BEGIN, BEGIN_ONCE } from './first-attempt-rows.ts'
import type { OutboundMessage } from './outbound-message.ts'
import { handOver } from './record-result.ts'
import { publishStatus } from './publish-status.ts'

/** What a first attempt takes before it is committed. */
interface Places {
  extensionId: string
  attemptId: string
  /** Its number among those that began with their message. */
  begun: number
  reservation: Reservation
  /** Of its places in the rate windows. */
  mark: number
  /** Gives back what was taken. */
  abandon(): void
}

/**
 * Accepts a message and begins its first attempt in one commit, of one row, with one commit less until the provider is
 * called. Answers what its request stands for: its own message, when that is on disk and its call under way; the one that its
 * `Idempotency-Key` was used for meanwhile; null when nothing was stored, because it must wait for its turn or may be repeated.
 */
export async function beginWith(
  gateway: Gateway,
  row: AcceptRow,
  message: OutboundMessage,
): Promise<KeptRequest | null> {
  if (row.idempotencyKey === null) return begin(gateway, row, message)
  const key = `${row.appId} ${row.idempotencyKey}`
  if (gateway.firstAttempts.keys.has(key)) return null
  gateway.firstAttempts.keys.add(key)
  try {
    return (await isKept(gateway, row)) ? null : await begin(gateway, row, message)
  } finally {
    gateway.firstAttempts.keys.delete(key)
  }
}

/** A repeated request must take no places, not even for the time of a commit: others would find the windows full, and wait. */
async function isKept({ database }: Gateway, { appId, idempotencyKey }: AcceptRow): Promise<boolean> {
  const sql = 'SELECT 1 FROM idempotency_keys WHERE app_id = ?1 AND key = ?2'
  return (await database.gate.values({ sql, args: [appId, idempotencyKey] })).length > 0
}

async function begin(gateway: Gateway, row: AcceptRow, message: OutboundMessage): Promise<KeptRequest | null> {
  const places = takePlaces(gateway, row)
  if (places === null) return null
  const { attemptId, extensionId, begun } = places
  let isStored = false
  try {
    const operation = row.idempotencyKey === null ? BEGIN : BEGIN_ONCE
    const rows = await gateway.database.writer.row(operation, { ...row, attemptId, extensionId, begun })
    const kept = rows.length === 0 ? null : keptRequest(row, rows)
    isStored = kept?.messageId === row.messageId
    if (!isStored) return kept
  } finally {
    // A disk can fail after the commit: then the message is there, and is adopted (adopt.ts).
    if (!isStored) places.abandon()
  }
  publishStatus(gateway, message, 'queued', row.now)
  run(gateway, row, message, places)
  return { messageId: row.messageId, requestHash: row.requestHash }
}

/** Null unless everything that a call needs is known and free at this moment. */
function takePlaces(gateway: Gateway, { tenantId, from }: AcceptRow): Places | null {
  const extensionId = gateway.numbers.readySender(tenantId, from)
  if (extensionId === null) return null
  const reservation = gateway.jobs.reserve('send', from, tenantId)
  if (reservation === null) return null
  const place = gateway.quota.take(from, extensionId)
  if (!place.ok) return (reservation.cancel(), null)
  const attemptId = gateway.ids.of('att')
  gateway.firstAttempts.running.add(attemptId)
  const abandon = (): void => {
    gateway.firstAttempts.running.delete(attemptId)
    gateway.quota.giveBack(from, extensionId, place.mark)
    reservation.cancel()
  }
  return { extensionId, attemptId, begun: gateway.mark.nextBegun(), reservation, mark: place.mark, abandon }
}

/** Its job is no row of the table: a number below zero, no other one's, stands for its `seq`. */
function run(gateway: Gateway, row: AcceptRow, message: OutboundMessage, places: Places): void {
  const { attemptId, extensionId, begun } = places
  const { jobId, from, tenantId, now } = row
  const job: Job = { seq: -begun, id: jobId, kind: 'send', lane: from, tenantId, subject: message.id, createdAt: now }
  const attempt = { id: attemptId, extensionId, number: 1, begunAt: row.runAt }
  places.reservation.begin(job, async (): Promise<JobOutcome> => {
    try {
      publishStatus(gateway, message, 'sending', now)
      await gateway.mark.noteBegun(begun)
      await callProvider(gateway, job, message, attempt, places.mark)
    } catch (error) {
      gateway.log.error(
        { messageId: message.id, error: errorName(error) },
        'a first attempt failed: it is settled, unless its result is stored',
      )
      await handOver(gateway, job, message, attempt, null)
    } finally {
      gateway.firstAttempts.running.delete(attemptId)
    }
    return DONE
  })
}
