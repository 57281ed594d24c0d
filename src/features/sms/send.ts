import type { Caller } from '../../auth/caller.ts'
import { apiError } from '../../core/errors.ts'
import { IDEMPOTENCY_RETENTION_MS } from '../../core/limits.ts'
import { sha256Hex } from '../../core/secrets.ts'
import { isConstraint } from '../../db/gate.ts'
import type { Gateway } from '../../gateway.ts'
import { publishStatus } from './publish-status.ts'
import type { OutboundMessage } from './outbound-message.ts'
import { ACCEPT, ACCEPT_ONCE, type AcceptRow, type KeptRequest, keptRequest } from './accept-rows.ts'
import { beginWith } from './first-attempt.ts'
import { type Accepted, IdempotencyKey, type SendBody } from './schemas.ts'

export interface Sent extends Accepted {
  /** True when an earlier request with the same `Idempotency-Key` was answered before. */
  replayed: boolean
}

/** Accepts a message: when this answers, it is on disk, with its job or with its first attempt under way. Errors: `idempotencyConflict`. */
export async function send(
  gateway: Gateway,
  caller: Caller,
  message: SendBody,
  idempotencyKey: string | null,
): Promise<Sent> {
  const key = checkedKey(idempotencyKey)
  const row = acceptRow(gateway, caller, message, key, gateway.clock.now())
  const begun = await beginWith(gateway, row, outboundOf(row))
  if (begun !== null) return answer(row, begun)
  const { value, kept, jobSeq } = await insert(gateway, row)
  if (kept.messageId === value.messageId) announce(gateway, value, jobSeq)
  return answer(value, kept)
}

function answer(row: AcceptRow, { messageId, requestHash }: KeptRequest): Sent {
  if (requestHash !== row.requestHash) throw apiError('idempotencyConflict')
  return { messageId, status: 'queued', replayed: messageId !== row.messageId }
}

const MESSAGE_ID_DRAWS = 5

interface Inserted {
  value: AcceptRow
  kept: KeptRequest
  /** Only of a new message. */
  jobSeq: number
}

/** A message id has only 48 bits: one that is taken is drawn again. */
async function insert(gateway: Gateway, value: AcceptRow): Promise<Inserted> {
  for (let draw = 1; ; draw++) {
    try {
      const rows = await gateway.database.writer.row(value.idempotencyKey === null ? ACCEPT : ACCEPT_ONCE, value)
      return { value, kept: keptRequest(value, rows), jobSeq: Number(rows[0]?.['seq']) }
    } catch (error) {
      if (!isConstraint(error) || draw >= MESSAGE_ID_DRAWS) throw error
      value = { ...value, messageId: gateway.ids.message(null) }
    }
  }
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

function announce(gateway: Gateway, value: AcceptRow, jobSeq: number): void {
  const { messageId, jobId, tenantId, from, now } = value
  const message = outboundOf(value)
  publishStatus(gateway, message, 'queued', now)
  gateway.jobs.ready(
    { seq: jobSeq, id: jobId, kind: 'send', lane: from, tenantId, subject: messageId, createdAt: now },
    message,
  )
}

/** As its delivery sees it. */
function outboundOf({ messageId: id, tenantId, appId, from, to, body, now }: AcceptRow): OutboundMessage {
  return { id, tenantId, appId, from, to, body, status: 'queued', createdAt: now, firstAttemptAt: null, attempt: null }
}

function checkedKey(key: string | null): string | null {
  if (key === null) return null
  if (!IdempotencyKey.safeParse(key).success) throw apiError('badIdempotencyKey')
  return key
}
