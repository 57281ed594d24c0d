import { isoTime } from '../core/clock.ts'
import { MAX_PREFETCHED_WEBHOOKS, MAX_WEBHOOKS_PER_TARGET } from '../core/limits.ts'
import type { Statement } from '../db/writer.ts'
import type { Gateway } from '../gateway.ts'
import { DONE, type Job, type JobKind, type JobOutcome } from '../jobs/job.ts'
import { type Delivery, correlationOf } from './delivery.ts'
import type { PostRequest, PostResult } from '../outbound/post-json.ts'
import { signedHeaders } from '../outbound/sign.ts'
import { CLOSE, OPEN } from './delivery-rows.ts'
import { DeliverySlots } from './delivery-slots.ts'
import { loadDeliveries } from './load-deliveries.ts'
import { interrupt } from './recover.ts'
import { SigningSecrets } from './signing-secrets.ts'

/** The `webhook` job: one POST to one destination, made once whatever its outcome. */
export function webhookJobs(gateway: Gateway): JobKind<Delivery> {
  const tools = {
    slots: new DeliverySlots(gateway.clock, gateway.jobs),
    secrets: new SigningSecrets(gateway.secrets),
  }
  return {
    name: 'webhook',
    get maxInFlight() {
      return tools.slots.maxInFlight
    },
    maxPerLane: MAX_WEBHOOKS_PER_TARGET * 2,
    room: (lane) => tools.slots.room(lane),
    maxPrefetched: MAX_PREFETCHED_WEBHOOKS,
    load: (ids) => loadDeliveries(gateway, ids),
    run: (job, delivery) => deliver(gateway, tools, job, delivery),
  }
}

interface Tools {
  slots: DeliverySlots
  secrets: SigningSecrets
}

/** The destination as it was when the job was read. */
interface Destination {
  url: string
  /** Sealed. */
  secret: string
}

const HOST_BUSY_MS = 1000
const GONE = 410

async function deliver(gateway: Gateway, tools: Tools, job: Job, delivery: Delivery): Promise<JobOutcome> {
  const { url, secret } = delivery
  if (url === null || secret === null) return drop(gateway, job)
  const slot = tools.slots.acquire(url, job)
  if (slot === null) return { type: 'wait', delayMs: HOST_BUSY_MS }
  try {
    const request = prepare(gateway, job, delivery, url, await tools.secrets.open(secret, job.tenantId, delivery))
    if (!(await open(gateway, job, delivery, { url, secret }))) return await notOpened(gateway, job, delivery)
    const result = await gateway.poster.post(request)
    // The next attempt can then be opened in the commit that closes this one.
    slot.answered()
    await close(gateway, job, delivery, result)
    return DONE
  } finally {
    slot.release()
  }
}

/** Signs before the attempt is recorded: a secret that cannot be opened must not use up the attempt. */
function prepare(gateway: Gateway, job: Job, delivery: Delivery, url: string, secret: string): PostRequest {
  const body = JSON.stringify({
    type: 'sms_inbound',
    messageId: delivery.messageId,
    from: delivery.from,
    to: delivery.to,
    body: delivery.body,
    rcMessageId: delivery.rcMessageId,
    tenantId: job.tenantId,
    timestamp: isoTime(delivery.timestamp),
    ...(delivery.receivingExtensionId === null ? {} : { receivingExtensionId: delivery.receivingExtensionId }),
    ...(delivery.kind === 'trigger' ? { triggerId: delivery.targetId } : {}),
  })
  const timestampSeconds = Math.floor(gateway.clock.now() / 1000)
  const headers = signedHeaders({ secret, deliveryId: delivery.deliveryId, timestampSeconds, body })
  return { url, tenantId: job.tenantId, body, headers }
}

/** Commits the attempt before anything is dialled. False if it was attempted before, or if its destination has changed. */
async function open(gateway: Gateway, job: Job, delivery: Delivery, to: Destination): Promise<boolean> {
  const { deliveryId, kind, targetId, messageId, correlationId } = delivery
  const [opened] = await gateway.database.writer.row(OPEN, {
    deliveryId,
    tenantId: job.tenantId,
    kind,
    targetId,
    messageId,
    correlationId,
    ...to,
    jobId: job.id,
    bootId: gateway.bootId,
    now: gateway.clock.now(),
  })
  if (opened === undefined) return false
  gateway.mark.noteDelivery(Number(opened['seq']))
  return true
}

/** Stores the outcome and deletes the job in one commit. A trigger whose URL answers 410 is removed. */
async function close(gateway: Gateway, job: Job, delivery: Delivery, result: PostResult): Promise<void> {
  const { outcome, statusCode, errorClass, errorMessage, durationMs } = result
  await gateway.database.writer.row(CLOSE, {
    deliveryId: delivery.deliveryId,
    jobSeq: job.seq,
    outcome,
    statusCode,
    errorClass,
    errorMessage,
    snippet: outcome === 'http_error' ? result.snippet : null,
    durationMs,
    goneTriggerId: delivery.kind === 'trigger' && statusCode === GONE ? delivery.targetId : null,
    tenantId: job.tenantId,
  })
}

/** The lane is read again if only the destination has changed. */
async function notOpened(gateway: Gateway, job: Job, delivery: Delivery): Promise<JobOutcome> {
  const now = (await loadDeliveries(gateway, [job.subject])).get(job.subject)
  // Its message was erased. If the message has come again, it has jobs of its own.
  if (now === undefined || now.correlationId !== correlationOf(job.id)) return forget(gateway, job)
  if (await wasAttempted(gateway, job.subject)) return drop(gateway, job)
  if (now.url === delivery.url && now.secret === delivery.secret) throw new Error('Cannot open a delivery')
  return { type: 'reread' }
}

async function wasAttempted({ database }: Gateway, deliveryId: string): Promise<boolean> {
  const sql = 'SELECT 1 FROM deliveries WHERE delivery_id = ?1'
  return (await database.gate.execute({ sql, args: [deliveryId] })).rows.length > 0
}

/** Its destination is gone, or it was attempted before. */
async function drop(gateway: Gateway, job: Job): Promise<JobOutcome> {
  await gateway.database.writer.write([interrupt(job.subject), withoutJob(job)])
  return DONE
}

async function forget(gateway: Gateway, job: Job): Promise<JobOutcome> {
  await gateway.database.writer.write([withoutJob(job)])
  return DONE
}

const withoutJob = ({ seq }: Job): Statement => ({ sql: 'DELETE FROM jobs WHERE seq = ?1', args: [seq] })
