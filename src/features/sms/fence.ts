import { MESSAGE_ERRORS } from '../../core/errors.ts'
import { MAX_SENDING_MS } from '../../core/limits.ts'
import type { RowOperation } from '../../db/writer.ts'
import type { Gateway } from '../../gateway.ts'
import { DONE, type Job, type JobKind, type JobOutcome } from '../../jobs/job.ts'
import type { StoredSms } from '../../provider/provider.ts'
import type { CallResult } from '../../provider/session.ts'
import { findRecord } from './find-record.ts'
import { type OutboundMessage, loadOutbound } from './outbound-message.ts'
import { dropJob, giveUp } from './record-result.ts'
import { sendLaneOf } from './send-lane.ts'
import { hasNoStore } from './settle.ts'
import { publishStatus } from './publish-status.ts'

/** How far the provider's clock may be off ours. */
const SKEW_MS = 60_000
const LOOK_AGAIN_MS = 15_000

interface Look {
  /** Steady time at which the store was asked. */
  at: number
  since: number
  result: CallResult<StoredSms[]>
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
  const { at, result } = await lookUp(gateway, message, sender.extensionId, looks, opensAt)
  if (result.type !== 'ok') {
    if (cannotTell(gateway, message, result, opensAt)) return giveUp(gateway, job, message, MESSAGE_ERRORS.unconfirmed)
    return { type: 'snooze', delayMs: Math.max(LOOK_AGAIN_MS, opensAt - gateway.clock.steady()) }
  }
  const found = await findRecord(gateway, message, result.value)
  if (found !== null) return bind(gateway, job, message, found)
  if (at < opensAt) return { type: 'snooze', delayMs: opensAt - gateway.clock.steady() }
  return release(gateway, job, message)
}

/** The store is not there at all, or could not be asked for so long that the message may not be sent any more. */
function cannotTell(
  gateway: Gateway,
  message: OutboundMessage,
  look: CallResult<StoredSms[]>,
  opensAt: number,
): boolean {
  if (hasNoStore(look)) return true
  const { clock, config } = gateway
  const isOld = message.status === 'sending' || clock.now() - message.createdAt > config.maxQueueAgeMs
  return isOld && clock.steady() > opensAt + MAX_SENDING_MS
}

/** One listing serves all messages of the extension; one that failed for a while, so that a store that hangs is not met by each. */
async function lookUp(
  gateway: Gateway,
  message: OutboundMessage,
  extensionId: string,
  looks: Map<string, Look>,
  opensAt: number,
): Promise<Look> {
  const known = looks.get(extensionId)
  const now = gateway.clock.steady()
  if (known !== undefined && isOfUse(known, message, now, opensAt)) return known
  const since = Math.min(await oldestFenced(gateway), message.createdAt) - SKEW_MS
  const key = { tenantId: message.tenantId, extensionId }
  const result = await gateway.session.call(key, 'light', (token) =>
    gateway.provider.listMessages(token, { direction: 'Outbound', since }),
  )
  const look = { at: result.type === 'ok' ? now : gateway.clock.steady(), since, result }
  looks.set(extensionId, look)
  return look
}

function isOfUse(look: Look, message: OutboundMessage, now: number, opensAt: number): boolean {
  if (look.result.type !== 'ok') return now - look.at < LOOK_AGAIN_MS
  return look.since <= message.createdAt - SKEW_MS && (look.at >= opensAt || now < opensAt)
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
  if (message.status === 'queued') publishStatus(gateway, message, 'sending', now)
  publishStatus(gateway, message, 'sent', now, { rcMessageId })
  return DONE
}

async function release(gateway: Gateway, job: Job, message: OutboundMessage): Promise<JobOutcome> {
  const lane = sendLaneOf(message)
  const sql = `UPDATE jobs SET kind = 'send', lane = ?2, run_at = ?3 WHERE seq = ?1`
  await gateway.database.writer.write([{ sql, args: [job.seq, lane, Math.ceil(gateway.clock.steady())] }])
  gateway.jobs.moved('send', lane, message.tenantId, 0)
  return DONE
}
