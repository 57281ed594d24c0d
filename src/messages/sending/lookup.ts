import { FIRST_LOOKUP_MS, MAX_ABSENT_ATTEMPTS, MAX_LOOKUP_MS } from '../../core/limits.ts'
import { MESSAGE_FAILURES } from '../../core/message-failure.ts'
import { DONE, type Job, type JobKind, type JobOutcome } from '../jobs/job.ts'
import { nameOf } from '../../provider/extension-rows.ts'
import type { StoredSms } from '../../provider/provider.ts'
import { type OpenEntry, storeClose, storeEnd } from './attempt-store.ts'
import type { SendingContext } from './context.ts'
import type { SendEngine } from './engine.ts'
import { type Lookup, OTHER_CLOCK_MS, isSettled, listSent, sinceOf } from './lookup-listing.ts'
import type { Entry, OpenAttempt } from './number-queue.ts'
import { type Sought, isDoubtful, matchRecord } from './match-record.ts'
import { isEnded, loadMessages } from './outbound-message.ts'

/**
 * The `lookup` job, one for each extension that has attempts of unknown outcome: it lists the provider's message store once and closes every
 * attempt that it can. No message is sent again before a lookup has found it absent.
 */
export function lookupJobs(engine: SendEngine): JobKind<string> {
  const kept: QuarantineLookups = new Map()
  return {
    name: 'lookup',
    bounds: { total: MAX_LOOKUPS_IN_FLIGHT, perTenant: MAX_LOOKUPS_PER_TENANT },
    maxPerLane: 1,
    load: (ids) => Promise.resolve(new Map(ids.map((id) => [id, id]))),
    run: (job) => lookUp(engine, kept, job),
  }
}

const MAX_LOOKUPS_IN_FLIGHT = 64
/** Half of all, so that one tenant's hanging extensions leave lookups for the others. */
const MAX_LOOKUPS_PER_TENANT = 32
/** The first lookup comes after 2 s. After that each delay equals the time since the attempt, at most 15 s. */
const MAX_LOOKUP_DELAY_MS = 15_000
const MIN_LOOKUP_DELAY_MS = 100
/** Bounds the rows of one query. After a restore an extension may have thousands of open attempts. */
const ATTEMPTS_AT_ONCE = 500
const MIN_DEFERRED_MS = 1000

/**
 * The lookup of each extension that has decided quarantined messages, kept until the process ends. It also decides the later messages of their
 * conversations, because all calls from before the restore had ended when it began.
 */
type QuarantineLookups = Map<string, Lookup>

async function lookUp(engine: SendEngine, kept: QuarantineLookups, job: Job): Promise<JobOutcome> {
  const { context, scheduler } = engine
  const key = { tenantId: job.tenantId, extensionId: job.lane }
  const name = nameOf(key)
  const earlier = kept.get(name)
  const entries = scheduler.entries
    .unknown(key.tenantId, key.extensionId)
    .filter((entry) => mayBeLookedUp(engine, earlier, entry))
  const isDecided = entries.every((entry) => decidesQuarantined(engine, earlier, entry))
  const lookup = isDecided ? earlier : await listSent(context, key, entries)
  if (lookup?.decidesQuarantine === true) kept.set(name, lookup)
  if (lookup !== undefined) await resolveAll(engine, entries, lookup)
  const left = scheduler.entries.unknown(key.tenantId, key.extensionId)
  if (left.length === 0) return endJob(context, job)
  return { type: 'snooze', delayMs: delayMs(engine, lookup, left) }
}

/** A quarantined message is not looked up before its settle time is over, because that would not decide the others of its conversation. */
const mayBeLookedUp = (engine: SendEngine, earlier: Lookup | undefined, entry: Entry): boolean =>
  !entry.isQuarantined || isSettled(entry, engine.context.clock.steady()) || decidesQuarantined(engine, earlier, entry)

/** Whether a lookup decides the message of this entry without another listing. */
const decidesQuarantined = (
  { context: { config }, startedAt }: SendEngine,
  lookup: Lookup | undefined,
  { isQuarantined, attempt, queue }: Entry,
): boolean =>
  lookup?.decidesQuarantine === true &&
  isQuarantined &&
  attempt !== null &&
  sinceOf(attempt) >= lookup.since &&
  (attempt.uploadMs === 0 || lookup.beganAt >= startedAt + config.reconcileSettleMs + attempt.uploadMs) &&
  lookup.proves(queue.number)

/** The milliseconds until the next lookup of the remaining attempts. */
function delayMs(engine: SendEngine, lookup: Lookup | undefined, left: readonly Entry[]): number {
  const retryInMs = lookup?.retryInMs ?? null
  if (retryInMs !== null) return Math.min(Math.max(retryInMs, MIN_DEFERRED_MS), MAX_LOOKUP_DELAY_MS)
  const nextMs = left.map((entry) =>
    decidesQuarantined(engine, lookup, entry) ? 0 : msUntilNext(engine.context, entry),
  )
  return Math.max(Math.min(...nextMs), MIN_LOOKUP_DELAY_MS)
}

/** Deletes the job, unless an attempt of unknown outcome was stored during the lookup. */
async function endJob({ database }: SendingContext, { seq, lane, tenantId }: Job): Promise<JobOutcome> {
  const sql = `DELETE FROM jobs WHERE seq = ?1 AND NOT EXISTS (SELECT 1 FROM send_attempts INDEXED BY send_attempts_open
    WHERE closed_at IS NULL AND outcome = 'unknown' AND extension_id = ?2 AND tenant_id = ?3) RETURNING seq`
  const [deleted] = await database.writer.write([{ sql, args: [seq, lane, tenantId] }])
  return deleted?.rows.length === 1 ? DONE : { type: 'snooze', delayMs: MIN_LOOKUP_DELAY_MS }
}

/** When the attempt began by the provider's clock. If the time is uncertain, the earliest possible one. */
function attemptBeganAt({ provider }: SendingContext, { isOwn, startedAt, providerStartedAt }: OpenAttempt): number {
  if (providerStartedAt !== null) return providerStartedAt
  return startedAt - (provider.clockSkewMs() ?? 0) - (isOwn ? 0 : OTHER_CLOCK_MS)
}

async function resolveAll(engine: SendEngine, entries: readonly Entry[], lookup: Lookup): Promise<void> {
  for (let first = 0; first < entries.length; first += ATTEMPTS_AT_ONCE)
    await resolveSome(engine, entries.slice(first, first + ATTEMPTS_AT_ONCE), lookup)
}

/** Closes the attempts that the lookup allows to close. Each matches its record before its first await, so equal texts match in order. */
async function resolveSome(engine: SendEngine, entries: readonly Entry[], lookup: Lookup): Promise<void> {
  const ids = entries.map(({ messageId }) => messageId)
  const messages = await loadMessages(engine.context.database.gate, ids)
  const open = entries.flatMap((entry): OpenEntry[] => {
    const message = messages.get(entry.messageId)
    return message === undefined || entry.attempt === null ? [] : [{ entry, message, attempt: entry.attempt }]
  })
  await Promise.all(open.map((one) => resolveAttempt(engine, one, lookup)))
}

async function resolveAttempt(engine: SendEngine, open: OpenEntry, lookup: Lookup): Promise<void> {
  const { context } = engine
  const { entry, attempt, message } = open
  const sought = soughtOf(context, open)
  // A quarantined message may have been cancelled meanwhile.
  const record = isEnded(message.status) ? null : matchRecord(sought, lookup.records, lookup.takenIds)
  if (record !== null) return storeFound(engine, open, record, lookup.takenIds)
  const isListed = lookup.isComplete && lookup.proves(entry.queue.number)
  const isAbsent = decidesQuarantined(engine, lookup, entry) || (isListed && isSettled(entry, lookup.beganAt))
  if (isAbsent && !isDoubtful(sought, lookup.records, lookup.takenIds)) return storeAbsent(engine, open)
  if (context.clock.steady() >= givenUpAt(context, attempt)) await endUnconfirmed(engine, open, 'unconfirmed')
}

const soughtOf = (context: SendingContext, { entry, attempt, message }: OpenEntry): Sought => ({
  from: entry.queue.number,
  to: entry.to,
  text: message.body,
  mediaTypes: message.attachments.map(({ contentType }) => contentType),
  since: attemptBeganAt(context, attempt),
})

async function storeFound(
  { context, scheduler }: SendEngine,
  open: OpenEntry,
  record: StoredSms,
  takenIds: Set<string>,
): Promise<void> {
  takenIds.add(record.providerMessageId)
  const end = { type: 'sent', outcome: 'unknown', rcMessageId: record.providerMessageId } as const
  // If the record belongs to another message after all, the next lookup decides.
  if (await storeEnd(context, open, end, null, 'sent')) scheduler.forget(open.entry)
}

async function storeAbsent(engine: SendEngine, open: OpenEntry): Promise<void> {
  const { entry } = open
  if (!entry.isQuarantined && open.message.absents + 1 >= MAX_ABSENT_ATTEMPTS)
    return endUnconfirmed(engine, open, 'absent')
  await storeClose(engine.context, open, 'unknown', null, 'absent')
  entry.isQuarantined = false
  engine.scheduler.freeConversation(entry)
  engine.scheduler.add(entry)
}

async function endUnconfirmed(
  { context, scheduler }: SendEngine,
  open: OpenEntry,
  resolution: 'absent' | 'unconfirmed',
): Promise<void> {
  const failure = MESSAGE_FAILURES.unconfirmed
  const end = { type: 'failed', outcome: 'unknown', rcMessageId: null, failure } as const
  if (await storeEnd(context, open, end, null, resolution)) scheduler.forget(open.entry)
}

/** Steady time at which an attempt ends as unconfirmed. It is never before a lookup could have found it absent. */
function givenUpAt({ config }: SendingContext, { absentAfter }: OpenAttempt): number {
  return (absentAfter ?? Infinity) + Math.max(0, MAX_LOOKUP_MS - config.reconcileSettleMs)
}

/** The milliseconds until the next lookup of an attempt. */
function msUntilNext({ clock }: SendingContext, { attempt, isQuarantined }: Entry): number {
  const steadyNow = clock.steady()
  const leftMs = (attempt?.absentAfter ?? steadyNow) - steadyNow
  const passedMs = steadyNow - (attempt?.startedAt ?? steadyNow)
  if (leftMs <= 0) return MAX_LOOKUP_DELAY_MS
  if (isQuarantined) return leftMs
  return Math.min(Math.max(passedMs, FIRST_LOOKUP_MS), MAX_LOOKUP_DELAY_MS, leftMs)
}
