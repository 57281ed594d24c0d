import { errorName } from '../core/log.ts'
import type { MessageFailure } from '../core/message-failure.ts'
import { segmentsOf } from '../core/segments.ts'
import type { AttemptResolution } from '../db/schema/messages.ts'
import { isConstraint } from '../db/gate.ts'
import type { RowOperation } from '../db/writer.ts'
import type { ProviderFailure } from '../provider/provider.ts'
import { latencyClass } from '../usage/latency.ts'
import { CLOSE, FAILED_RESULT, RESULT, UNKNOWN } from './attempt-rows.ts'
import type { CallEnd } from './call-end.ts'
import type { SendingContext } from './context.ts'
import { GIVE_UP } from './give-up-rows.ts'
import type { Entry, OpenAttempt } from './number-queue.ts'
import type { OutboundMessage } from './outbound-message.ts'
import { publishStatus } from './publish-status.ts'

type Ended = Extract<CallEnd, { type: 'sent' | 'failed' }>

/** An entry with its open attempt. */
export interface OpenEntry {
  entry: Entry
  attempt: OpenAttempt
  message: OutboundMessage
}

/**
 * Ends an attempt, its message and its job in one commit, and publishes the change. Returns false, and stores nothing, if
 * the provider's id belongs to another message. `resolution` is set if the outcome was unknown.
 */
export async function storeEnd(
  context: SendingContext,
  open: OpenEntry,
  end: Ended,
  failure: ProviderFailure | null,
  resolution: AttemptResolution | null = null,
): Promise<boolean> {
  const { clock } = context
  const { message } = open
  const now = clock.now()
  const error = end.type === 'failed' ? end.failure : null
  const row = {
    ...closeRow(context, open, end.outcome, failure, resolution),
    status: end.type,
    rcMessageId: end.rcMessageId,
    error: error?.text ?? null,
    failureCode: error?.code ?? null,
    segments: error === null ? segmentsOf(message.body) : 0,
    latencyMs: error === null && message.sendAt === null ? latencyClass(now - message.createdAt) : 0,
    now,
  }
  if (!(await writeUntilStored(context, error === null ? RESULT : FAILED_RESULT, row))) return false
  const key = { tenantId: message.tenantId, extensionId: open.attempt.extensionId }
  if (end.type === 'sent') context.tracking.sent(key, row.closedAt)
  if (message.status === 'queued') publishStatus(context, message, 'sending', now)
  publishStatus(context, message, end.type, now, { rcMessageId: end.rcMessageId, failure: error })
  return true
}

/** Closes the attempt. Its message and job stay, for another attempt. */
export async function storeClose(
  context: SendingContext,
  open: OpenEntry,
  outcome: Extract<CallEnd, { type: 'retry' }>['outcome'],
  failure: ProviderFailure | null,
  resolution: AttemptResolution | null = null,
): Promise<void> {
  await writeUntilStored(context, CLOSE, closeRow(context, open, outcome, failure, resolution))
}

const closeRow = (
  { clock }: SendingContext,
  { entry, attempt }: OpenEntry,
  outcome: Extract<CallEnd, { type: 'retry' }>['outcome'],
  failure: ProviderFailure | null,
  resolution: AttemptResolution | null,
) => ({
  messageId: entry.messageId,
  jobSeq: entry.jobSeq,
  attemptSeq: attempt.seq,
  outcome,
  resolution,
  httpStatus: failure?.status ?? null,
  errorCode: failure?.code ?? null,
  requestId: failure?.requestId ?? null,
  closedAt: Math.ceil(clock.steady()),
})

const FIRST_LOOKUP_MS = 2000

/**
 * Stores an unknown outcome. The attempt stays open until the lookup job closes it. Returns the milliseconds until that job
 * is due.
 */
export async function storeUnknown(
  context: SendingContext,
  { entry, attempt }: Omit<OpenEntry, 'message'>,
  failure: ProviderFailure | null,
): Promise<number> {
  const { config, clock, ids } = context
  const settleMs = failure?.status === 500 ? config.reconcileSettle5xxMs : config.reconcileSettleMs
  const lookupMs = Math.min(FIRST_LOOKUP_MS, settleMs)
  const now = Math.ceil(clock.steady())
  await writeUntilStored(context, UNKNOWN, {
    messageId: entry.messageId,
    attemptSeq: attempt.seq,
    tenantId: entry.queue.tenantId,
    extensionId: attempt.extensionId,
    absentAfter: now + settleMs,
    lookupAt: now + lookupMs,
    httpStatus: failure?.status ?? null,
    errorCode: failure?.code ?? null,
    requestId: failure?.requestId ?? null,
    jobId: ids.of('job'),
    now,
  })
  attempt.absentAfter = now + settleMs
  return lookupMs
}

/** Ends a message that has no open attempt, and its job. Returns whether this call ended it. */
export async function giveUp(
  context: SendingContext,
  { jobSeq }: Pick<Entry, 'jobSeq'>,
  message: OutboundMessage,
  failure: MessageFailure,
): Promise<boolean> {
  const now = context.clock.now()
  const row = { messageId: message.id, jobSeq, error: failure.text, failureCode: failure.code, now }
  if ((await context.database.writer.row(GIVE_UP, row)).length === 0) return false
  if (message.status === 'queued') publishStatus(context, message, 'sending', now)
  publishStatus(context, message, 'failed', now, { failure })
  return true
}

const WRITE_AGAIN_MS = 1000

/**
 * Writes until the database stores the row. Meanwhile the attempt stays open, so nothing is sent twice. Returns false if
 * the row violates a constraint of the schema.
 */
async function writeUntilStored<Row extends Record<string, string | number | null>>(
  { database, clock, log }: SendingContext,
  operation: RowOperation<Row>,
  row: Row,
): Promise<boolean> {
  for (;;) {
    try {
      await database.writer.row(operation, row)
      return true
    } catch (error) {
      if (isConstraint(error)) return false
      log.error({ error: errorName(error) }, 'a result cannot be stored, trying again')
      await new Promise<void>((resolve) => clock.after(WRITE_AGAIN_MS, resolve))
    }
  }
}
