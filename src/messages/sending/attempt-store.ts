import { FIRST_LOOKUP_MS } from '../../core/limits.ts'
import type { MessageFailure } from '../../core/message-failure.ts'
import { segmentsOf } from '../../client/segments.ts'
import type { AttemptOutcome, AttemptResolution } from '../../db/schema/messages.ts'
import { isConstraint } from '../../db/gate.ts'
import type { JsonRow, RowOperation } from '../../db/writer.ts'
import type { ProviderFailure } from '../../provider/provider.ts'
import { latencyClass } from '../usage/latency.ts'
import { type AnswerColumns, CLOSE, END, END_FAILED, END_MEDIA, GIVE_UP, UNKNOWN } from './attempt-rows.ts'
import type { CallEnd } from './call-end.ts'
import type { SendingContext } from './context.ts'
import type { Entry, OpenAttempt } from './number-queue.ts'
import type { OutboundMessage } from './outbound-message.ts'
import { untilDone } from './uncertain-commits.ts'

type Ended = Extract<CallEnd, { type: 'sent' | 'failed' }>

/** An entry with its open attempt. */
export interface OpenEntry {
  entry: Entry
  attempt: OpenAttempt
  message: OutboundMessage
}

/**
 * Ends an attempt, its message and its job in one commit. Returns false, and stores nothing, if the provider's id belongs to another message. `resolution` is set if the outcome was unknown.
 */
export async function storeEnd(
  context: SendingContext,
  open: OpenEntry,
  end: Ended,
  providerFailure: ProviderFailure | null,
  resolution: AttemptResolution | null = null,
): Promise<boolean> {
  const { clock } = context
  const { entry, attempt, message } = open
  const now = clock.now()
  const failure = end.type === 'failed' ? end.failure : null
  const row = {
    ...closeRow(context, open, end.outcome, providerFailure, resolution),
    status: end.type,
    rcMessageId: end.rcMessageId,
    error: failure?.text ?? null,
    failureCode: failure?.code ?? null,
    segments: failure === null ? segmentsOfMessage(message) : 0,
    latencyMs: failure === null && hasLatency(open) ? latencyClass(now - message.createdAt) : 0,
    now,
  }
  if (!(await writeUntilStored(context, failure === null ? endOf(message) : END_FAILED, row))) return false
  const key = { tenantId: entry.queue.tenantId, extensionId: attempt.extensionId }
  if (end.type === 'sent') context.receipts.sent(key, row.closedAt)
  return true
}

const endOf = ({ attachments }: OutboundMessage): typeof END => (attachments.length === 0 ? END : END_MEDIA)

/** A message with media is billed as one. */
const segmentsOfMessage = ({ body, attachments }: OutboundMessage): number =>
  attachments.length === 0 ? segmentsOf(body) : 1

/** A scheduled message waits on purpose, and the time at which a quarantined one was sent is unknown. */
const hasLatency = ({ entry, message }: OpenEntry): boolean => message.sendAt === null && !entry.isQuarantined

/** Closes the attempt. Its message and job stay, for another attempt. */
export async function storeClose(
  context: SendingContext,
  open: OpenEntry,
  outcome: AttemptOutcome,
  providerFailure: ProviderFailure | null,
  resolution: AttemptResolution | null = null,
): Promise<void> {
  await writeUntilStored(context, CLOSE, closeRow(context, open, outcome, providerFailure, resolution))
}

const closeRow = (
  { clock }: SendingContext,
  { entry, attempt }: OpenEntry,
  outcome: AttemptOutcome,
  providerFailure: ProviderFailure | null,
  resolution: AttemptResolution | null,
) => ({
  messageId: entry.messageId,
  jobSeq: entry.jobSeq,
  attemptSeq: attempt.seq,
  outcome,
  resolution,
  closedAt: Math.ceil(clock.steady()),
  ...answerColumns(attempt, providerFailure),
})

const MAX_MESSAGE_UNITS = 200

const answerColumns = ({ durationMs }: OpenAttempt, failure: ProviderFailure | null): AnswerColumns => ({
  httpStatus: failure?.status ?? null,
  providerCode: failure?.code ?? null,
  requestId: failure?.requestId ?? null,
  providerMessage: failure === null ? null : failure.message.slice(0, MAX_MESSAGE_UNITS).toWellFormed(),
  durationMs,
})

/**
 * Stores an unknown outcome. The attempt stays open until the lookup job closes it. Returns the milliseconds until that job
 * is due.
 */
export async function storeUnknown(
  context: SendingContext,
  { entry, attempt }: Omit<OpenEntry, 'message'>,
  providerFailure: ProviderFailure | null,
): Promise<number> {
  const settleMs = settleMsAfter(context, providerFailure) + attempt.uploadMs
  const lookupMs = Math.min(FIRST_LOOKUP_MS, settleMs)
  const storedAt = Math.ceil(context.clock.steady())
  const absentAfter = storedAt + settleMs
  await writeUntilStored(context, UNKNOWN, {
    messageId: entry.messageId,
    attemptSeq: attempt.seq,
    tenantId: entry.queue.tenantId,
    extensionId: attempt.extensionId,
    absentAfter,
    lookupAt: storedAt + lookupMs,
    storedAt,
    ...answerColumns(attempt, providerFailure),
  })
  attempt.absentAfter = absentAfter
  return lookupMs
}

/** After a 500 the provider has finished the call. After a 502 or 504 it may still be working behind the proxy that answered. */
const settleMsAfter = ({ config }: SendingContext, providerFailure: ProviderFailure | null): number =>
  providerFailure?.status === 500 ? config.reconcileSettle500Ms : config.reconcileSettleMs

/** Ends a message that has no open attempt, and its job. Returns whether this call ended it. */
export async function giveUp(
  context: SendingContext,
  { jobSeq }: Pick<Entry, 'jobSeq'>,
  message: OutboundMessage,
  failure: MessageFailure,
): Promise<boolean> {
  const now = context.clock.now()
  const row = { messageId: message.id, jobSeq, error: failure.text, failureCode: failure.code, now }
  return (await context.database.writer.row(GIVE_UP, row)).length > 0
}

/**
 * Retries until the database has stored the row. Until then the attempt stays open, so nothing is sent twice. Returns false if the row
 * violates a constraint of the schema.
 */
async function writeUntilStored<Row extends JsonRow>(
  context: SendingContext,
  operation: RowOperation<Row>,
  row: Row,
): Promise<boolean> {
  try {
    await untilDone(context, 'a result cannot be stored', () => context.database.writer.row(operation, row))
    return true
  } catch (error) {
    if (isConstraint(error)) return false
    throw error
  }
}
