import { MESSAGE_ERRORS } from '../../core/errors.ts'
import type { RowOperation } from '../../db/writer.ts'
import type { Gateway } from '../../gateway.ts'
import { DONE, type Job, type JobKind, type JobOutcome } from '../../jobs/job.ts'
import type { StoredSms } from '../../provider/provider.ts'
import { type OutboundMessage, loadOutbound } from './outbound-message.ts'
import { dropJob, giveUp } from './record-result.ts'
import { sendLaneOf } from './send-lane.ts'
import { findUnbound } from './settle.ts'
import { statusEvent } from './status-event.ts'

/** How far the provider's clock may be off ours. */
const SKEW_MS = 60_000
const LOOK_AGAIN_MS = 15_000

interface Look {
  /** Steady time at which the store was asked. */
  at: number
  since: number
  records: StoredSms[]
}

/**
 * The `fence` job: after a restore from a backup, a message that was waiting may have been sent in the time that the
 * backup does not know. It goes out only after the provider's store, asked once the settle time is over, has no trace
 * of it. One at a time, so that of several equal messages each is bound to a record of its own.
 */
export function fenceJobs(gateway: Gateway): JobKind<OutboundMessage> {
  const looks = new Map<string, Look>()
  const opensAt = gateway.clock.steady() + gateway.config.reconcileSettleMs
  return {
    name: 'fence',
    maxInFlight: 1,
    maxPerLane: 1,
    load: (ids) => loadOutbound(gateway, ids),
    run: (job, message) => passFence(gateway, job, message, looks, opensAt),
  }
}

async function passFence(
  gateway: Gateway,
  job: Job,
  message: OutboundMessage,
  looks: Map<string, Look>,
  opensAt: number,
): Promise<JobOutcome> {
  if (message.status !== 'queued' && message.status !== 'sending') return dropJob(gateway, job)
  const sender = await gateway.numbers.senderOf(message.tenantId, message.from)
  if (sender.type === 'failed')
    return giveUp(
      gateway,
      job,
      message,
      sender.error === MESSAGE_ERRORS.revoked ? MESSAGE_ERRORS.unconfirmed : sender.error,
    )
  if (sender.type === 'waiting') return { type: 'snooze', delayMs: sender.retryInMs }
  const look = await lookUp(gateway, message, sender.extensionId, looks, opensAt)
  if (look === null) return { type: 'snooze', delayMs: Math.max(LOOK_AGAIN_MS, opensAt - gateway.clock.steady()) }
  const found = await findUnbound(gateway, message, look.records)
  if (found !== null) return bind(gateway, job, message, found)
  if (look.at < opensAt) return { type: 'snooze', delayMs: opensAt - gateway.clock.steady() }
  return release(gateway, job, message)
}

/** One listing serves all messages of the extension; null while the store cannot be asked. */
async function lookUp(
  gateway: Gateway,
  message: OutboundMessage,
  extensionId: string,
  looks: Map<string, Look>,
  opensAt: number,
): Promise<Look | null> {
  const known = looks.get(extensionId)
  const now = gateway.clock.steady()
  if (known !== undefined && known.since <= message.createdAt - SKEW_MS && (known.at >= opensAt || now < opensAt))
    return known
  const since = Math.min(await oldestFenced(gateway), message.createdAt) - SKEW_MS
  const key = { tenantId: message.tenantId, extensionId }
  const listed = await gateway.session.call(key, 'light', (token) =>
    gateway.provider.listMessages(token, { direction: 'Outbound', since }),
  )
  if (listed.type !== 'ok') return null
  const look = { at: now, since, records: listed.value }
  looks.set(extensionId, look)
  return look
}

async function oldestFenced(gateway: Gateway): Promise<number> {
  const { rows } = await gateway.database.gate.execute(`SELECT min(created_at) AS at FROM jobs WHERE kind = 'fence'`)
  return Number(rows[0]?.['at'] ?? gateway.clock.now())
}

interface BoundRow extends Record<string, string | number> {
  messageId: string
  jobSeq: number
  rcMessageId: string
  now: number
}

export const BIND: RowOperation<BoundRow> = {
  columns: ['messageId', 'jobSeq', 'rcMessageId', 'now'],
  key: 'messageId',
  statements: [
    `UPDATE messages SET status = 'sent', rc_message_id = rcMessageId, updated_at = given.now
      FROM given WHERE messages.id = given.messageId AND messages.status IN ('queued', 'sending') RETURNING id AS key`,
    'DELETE FROM jobs WHERE seq IN (SELECT jobSeq FROM given)',
  ],
}

/** It was sent in the lost time. */
async function bind(gateway: Gateway, job: Job, message: OutboundMessage, found: StoredSms): Promise<JobOutcome> {
  const now = gateway.clock.now()
  const rcMessageId = found.providerMessageId
  const rows = await gateway.database.writer.row(BIND, { messageId: message.id, jobSeq: job.seq, rcMessageId, now })
  if (rows.length === 0) return DONE
  if (message.status === 'queued') gateway.hub.publish(statusEvent(message, 'sending', now))
  gateway.hub.publish(statusEvent(message, 'sent', now, { rcMessageId }))
  return DONE
}

async function release(gateway: Gateway, job: Job, message: OutboundMessage): Promise<JobOutcome> {
  const lane = sendLaneOf(message)
  const sql = `UPDATE jobs SET kind = 'send', lane = ?2, run_at = ?3 WHERE seq = ?1`
  await gateway.database.writer.write([{ sql, args: [job.seq, lane, Math.ceil(gateway.clock.steady())] }])
  gateway.jobs.moved('send', lane, message.tenantId, 0)
  return DONE
}
