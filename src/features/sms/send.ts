import type { Caller } from '../../auth/caller.ts'
import { apiError } from '../../core/errors.ts'
import { IDEMPOTENCY_RETENTION_MS, MAX_IDEMPOTENCY_KEY_LENGTH } from '../../core/limits.ts'
import { sha256Hex } from '../../core/secrets.ts'
import { isConstraint } from '../../db/gate.ts'
import type { Gateway } from '../../gateway.ts'
import { statusEvent } from './status-event.ts'
import type { OutboundMessage } from './outbound-message.ts'
import { ACCEPT, ACCEPT_AND_BEGIN, ACCEPT_ONCE, type AcceptRow } from './accept-rows.ts'
import { type FirstAttempt, firstAttempt } from './first-attempt.ts'
import type { Accepted, SendBody } from './schemas.ts'

export interface Sent extends Accepted {
  /** True when an earlier request with the same `Idempotency-Key` was answered before. */
  replayed: boolean
}

/** Accepts a message: when this answers, message and job are on disk. Errors: `idempotencyConflict`. */
export async function send(
  gateway: Gateway,
  caller: Caller,
  message: SendBody,
  idempotencyKey: string | null,
): Promise<Sent> {
  const key = checkedKey(idempotencyKey)
  const now = gateway.clock.now()
  // A request with a key may be a repeated one, which begins nothing.
  const first = key === null ? firstAttempt(gateway, caller.tenantId, message.from, message.body) : null
  const row = await insert(gateway, acceptRow(gateway, caller, message, key, now), first)
  const replayed = row.stored !== row.value.messageId
  if (!replayed) announce(gateway, row, first)
  return { messageId: row.stored, status: 'queued', replayed }
}

const MESSAGE_ID_DRAWS = 5

interface Inserted {
  value: AcceptRow
  /** The message that the answer names. */
  stored: string
  jobSeq: number
  /** Of the attempt that was opened with it. */
  attemptSeq: number | null
}

/** A message id has only 48 bits: one that is taken is drawn again. */
async function insert(gateway: Gateway, value: AcceptRow, first: FirstAttempt | null): Promise<Inserted> {
  try {
    for (let draw = 1; ; draw++) {
      try {
        return await insertOnce(gateway, value, first)
      } catch (error) {
        if (!isConstraint(error) || draw >= MESSAGE_ID_DRAWS) throw error
        value = { ...value, messageId: gateway.ids.message(null) }
      }
    }
  } catch (error) {
    first?.abandon()
    throw error
  }
}

async function insertOnce(gateway: Gateway, value: AcceptRow, first: FirstAttempt | null): Promise<Inserted> {
  const { writer } = gateway.database
  if (value.idempotencyKey !== null) return insertOnceByKey(gateway, value)
  const rows = await (first === null
    ? writer.row(ACCEPT, value)
    : writer.row(ACCEPT_AND_BEGIN, { ...value, ...first.row }))
  const opened = rows.length > 1 ? rows[0]?.['attempt_seq'] : undefined
  const jobSeq = Number(rows.at(-1)?.['seq'])
  return { value, stored: value.messageId, jobSeq, attemptSeq: opened === undefined ? null : Number(opened) }
}

async function insertOnceByKey(gateway: Gateway, value: AcceptRow): Promise<Inserted> {
  const rows = await gateway.database.writer.row(ACCEPT_ONCE, value)
  const key = rows.at(-1)
  if (key?.['request_hash'] !== value.requestHash) throw apiError('idempotencyConflict')
  return { value, stored: String(key['message_id']), jobSeq: Number(rows[0]?.['seq']), attemptSeq: null }
}

function acceptRow(gateway: Gateway, caller: Caller, message: SendBody, key: string | null, now: number): AcceptRow {
  const { to, from, body, userId } = message
  return {
    messageId: gateway.ids.message(now),
    jobId: gateway.ids.of('job'),
    tenantId: caller.tenantId,
    appId: caller.appId,
    userId,
    from,
    to,
    body,
    now,
    runAt: gateway.clock.steady(),
    idempotencyKey: key,
    requestHash: key === null ? null : sha256Hex(JSON.stringify([to, from, body, userId])),
    expiredBefore: now - IDEMPOTENCY_RETENTION_MS,
  }
}

function announce(gateway: Gateway, { value, jobSeq, attemptSeq }: Inserted, first: FirstAttempt | null): void {
  const { messageId: id, jobId, appId, tenantId, from, to, body, now } = value
  const message: OutboundMessage = {
    id,
    tenantId,
    appId,
    from,
    to,
    body,
    status: 'queued',
    createdAt: now,
    firstAttemptAt: null,
    attempt: null,
  }
  gateway.hub.publish(statusEvent(message, 'queued', now))
  const job = { seq: jobSeq, id: jobId, kind: 'send', lane: from, tenantId, subject: id, createdAt: now }
  if (first !== null && attemptSeq !== null) return first.begin(job, message, attemptSeq)
  first?.abandon()
  gateway.jobs.ready(job, message)
}

function checkedKey(key: string | null): string | null {
  if (key === null) return null
  if (key.length > MAX_IDEMPOTENCY_KEY_LENGTH || !/^[\x21-\x7e]+$/.test(key)) throw apiError('badIdempotencyKey')
  return key
}
