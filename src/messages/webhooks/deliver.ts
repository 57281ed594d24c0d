import type { Slot } from '../../core/limiter.ts'
import type { Gateway } from '../gateway.ts'
import { DONE, type Job, type JobOutcome } from '../jobs/job.ts'
import { deleteJob } from '../jobs/job-rows.ts'
import type { PostRequest } from '../../net/outbound/webhook-poster.ts'
import { signedHeaders } from '../../net/outbound/sign.ts'
import { type OpenDeliveryAttempt, closeAttempt } from './close-attempt.ts'
import { type Delivery, correlationOf } from './delivery.ts'
import { OPEN_FIRST_ATTEMPT, OPEN_FURTHER_ATTEMPT, policyOf } from './delivery-rows.ts'
import { loadDeliveries } from './load-deliveries.ts'
import { closeLeftOpen } from './interrupted.ts'
import type { SigningSecrets } from './signing-secrets.ts'

/** The job is read again immediately, with its current destination. */
const READ_AGAIN: JobOutcome = { type: 'wait', delayMs: 0 }
/** The tenant's activation ends the wait sooner. */
const SUSPENDED_MS = 60_000

/** Makes one attempt of a delivery: one POST to one destination. The commit that stores a failure decides whether a retry follows. */
export async function deliver(
  gateway: Gateway,
  secrets: SigningSecrets,
  job: Job,
  delivery: Delivery,
  slot: Pick<Slot, 'release'>,
): Promise<JobOutcome> {
  const { url, secret } = delivery
  if (url === null || secret === null) return withoutDestination(gateway, job)
  const request = prepare(gateway, job, delivery, url, await secrets.decrypt(secret, job.tenantId, delivery))
  const attempt = await open(gateway, job, delivery, { url, secret })
  if (attempt === null) return notOpened(gateway, job, delivery)
  const result = await gateway.poster.post(request)
  // Released now, so that the row of the next attempt can join the commit of this result.
  slot.release()
  await closeAttempt(gateway, attempt, result)
  return DONE
}

/** Signs before the attempt is stored, because a secret that cannot be decrypted must not use up the attempt. */
function prepare(gateway: Gateway, job: Job, delivery: Delivery, url: string, secret: string): PostRequest {
  const { payload, kind, targetId, deliveryId, attachments } = delivery
  const body = JSON.stringify(kind === 'trigger' ? { ...payload, triggerId: targetId } : payload)
  const timestampSeconds = Math.floor(gateway.clock.now() / 1000)
  const signed = signedHeaders({ secret, deliveryId, timestampSeconds, body })
  const headers = attachments === 0 ? signed : { ...signed, 'X-Gateway-Attachments': String(attachments) }
  return { url, tenantId: job.tenantId, body, headers }
}

/** Commits the attempt before the POST. Returns null if the attempt may not be made, or its destination has changed. */
async function open(
  gateway: Gateway,
  job: Job,
  delivery: Delivery,
  to: { url: string; secret: string },
): Promise<OpenDeliveryAttempt | null> {
  const { deliveryId, kind, targetId, messageId, correlationId } = delivery
  const { tenantId } = job
  const [opened] = await gateway.database.writer.row(
    job.kind === 'webhook' ? OPEN_FIRST_ATTEMPT : OPEN_FURTHER_ATTEMPT,
    {
      deliveryId,
      tenantId,
      kind,
      targetId,
      messageId,
      correlationId,
      ...to,
      jobId: job.id,
      jobSeq: job.seq,
      bootId: gateway.bootId,
      now: gateway.clock.now(),
    },
  )
  if (opened === undefined) return null
  const seq = Number(opened['seq'])
  gateway.restoreMark.noteWebhookAttempt(seq)
  return { seq, attemptNumber: Number(opened['attempt_number']), jobSeq: job.seq, kind, targetId, tenantId }
}

/** Finds out why no attempt was opened. If only the destination has changed, the job is read again. */
async function notOpened(gateway: Gateway, job: Job, delivery: Delivery): Promise<JobOutcome> {
  const current = (await loadDeliveries(gateway, [job.subject])).get(job.subject)
  // The message was erased. If it has arrived again, it has other jobs.
  if (current === undefined || current.correlationId !== correlationOf(job.id)) return deleteJob(gateway.database, job)
  if (await closeLeftOpen(gateway, job)) return DONE
  if (await (job.kind === 'webhook' ? wasAttempted : isUnwanted)(gateway, job, delivery))
    return deleteJob(gateway.database, job)
  if (current.url === delivery.url && current.secret === delivery.secret) throw new Error('Cannot open a delivery')
  return READ_AGAIN
}

async function wasAttempted({ database }: Gateway, { subject }: Job): Promise<boolean> {
  const sql = 'SELECT 1 FROM webhook_attempts WHERE delivery_id = ?1'
  return (await database.gate.execute({ sql, args: [subject] })).rows.length > 0
}

/** Whether the policy has become `none` since the retry was scheduled. */
async function isUnwanted({ database }: Gateway, job: Job, { kind, targetId }: Delivery): Promise<boolean> {
  const sql = `SELECT 1 FROM jobs WHERE seq = ?1 AND (is_last = 1 OR ${policyOf('?2', '?3')} IN ('short', 'standard'))`
  return (await database.gate.execute({ sql, args: [job.seq, kind, targetId] })).rows.length === 0
}

/**
 * Closes an attempt whose outcome could not be stored. Otherwise deletes the job, unless its tenant is suspended: then it waits
 * until the tenant is active again.
 */
async function withoutDestination(gateway: Gateway, job: Job): Promise<JobOutcome> {
  if (await closeLeftOpen(gateway, job)) return DONE
  if (await isSuspended(gateway, job)) return { type: 'wait', delayMs: SUSPENDED_MS }
  const current = (await loadDeliveries(gateway, [job.subject])).get(job.subject)
  return (current?.url ?? null) === null ? deleteJob(gateway.database, job) : READ_AGAIN
}

async function isSuspended({ database }: Gateway, { tenantId }: Job): Promise<boolean> {
  const sql = "SELECT 1 FROM tenants WHERE id = ?1 AND status = 'suspended'"
  return (await database.gate.execute({ sql, args: [tenantId] })).rows.length > 0
}
