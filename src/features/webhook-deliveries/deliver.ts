import { isoTime } from '../../core/clock.ts'
import { MAX_WEBHOOKS_PER_TARGET } from '../../core/limits.ts'
import type { Gateway } from '../../gateway.ts'
import { DONE, type Job, type JobKind, type JobOutcome } from '../../jobs/job.ts'
import type { PostRequest, PostResult } from '../../outbound/post-json.ts'
import { signedHeaders } from '../../outbound/sign.ts'
import { type Delivery, loadDeliveries, sealContextOf } from './delivery.ts'
import { CLOSE, OPEN } from './delivery-rows.ts'
import { DeliveryLanes } from './lanes.ts'
import { interrupt } from './recover.ts'

/** The `webhook` job: one POST to one destination, once, whatever comes of it. */
export function webhookJobs(gateway: Gateway): JobKind<Delivery> {
  const lanes = new DeliveryLanes(gateway.clock, () => gateway.jobs.release('webhook'))
  return {
    name: 'webhook',
    get maxInFlight() {
      return lanes.maxInFlight
    },
    maxPerLane: MAX_WEBHOOKS_PER_TARGET,
    load: (ids) => loadDeliveries(gateway, ids),
    run: (job, delivery) => deliver(gateway, lanes, job, delivery),
  }
}

const HOST_BUSY_MS = 1000
const GONE = 410

async function deliver(gateway: Gateway, lanes: DeliveryLanes, job: Job, delivery: Delivery): Promise<JobOutcome> {
  const { url, secret } = delivery
  if (url === null || secret === null) return drop(gateway, job)
  const leave = lanes.enter(url, job.tenantId)
  if (leave === null) return { type: 'hold', delayMs: HOST_BUSY_MS }
  try {
    const request = await prepare(gateway, job, delivery, url, secret)
    if (!(await open(gateway, job, delivery, url))) return await drop(gateway, job)
    await close(gateway, job, delivery, await gateway.poster.post(request))
    return DONE
  } finally {
    leave()
  }
}

/** Signed before the attempt is recorded: a secret that does not open must not use the attempt up. */
async function prepare(
  gateway: Gateway,
  job: Job,
  delivery: Delivery,
  url: string,
  sealed: string,
): Promise<PostRequest> {
  const secret = await gateway.secrets.open(sealed, sealContextOf(job.tenantId, delivery))
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
  return { url, body, headers: signedHeaders({ secret, deliveryId: delivery.deliveryId, timestampSeconds, body }) }
}

/** Commits the attempt before anything is dialled. False when this delivery was attempted before. */
async function open(gateway: Gateway, job: Job, delivery: Delivery, url: string): Promise<boolean> {
  const { deliveryId, kind, targetId, messageId, correlationId } = delivery
  const [opened] = await gateway.database.writer.row(OPEN, {
    deliveryId,
    tenantId: job.tenantId,
    kind,
    targetId,
    messageId,
    correlationId,
    url,
    bootId: gateway.bootId,
    now: gateway.clock.now(),
  })
  if (opened === undefined) return false
  gateway.mark.noteDelivery(Number(opened['seq']))
  return true
}

/** Outcome and end of the job in one commit. A trigger that answers 410 is gone. */
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

/** Nobody wants it any more, or it was attempted before. */
async function drop(gateway: Gateway, job: Job): Promise<JobOutcome> {
  await gateway.database.writer.write([
    interrupt(job.subject),
    { sql: 'DELETE FROM jobs WHERE seq = ?1', args: [job.seq] },
  ])
  return DONE
}
