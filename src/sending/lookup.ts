import { FIRST_LOOKUP_MS, HOUR_MS, MAX_ABSENT_ATTEMPTS, MAX_LOOKUP_MS } from '../core/limits.ts'
import { MESSAGE_FAILURES } from '../core/message-failure.ts'
import { DONE, type Job, type JobKind, type JobOutcome } from '../jobs/job.ts'
import type { ExtensionKey } from '../provider/extension-rows.ts'
import type { MessageQuery, StoredSms } from '../provider/provider.ts'
import { type OpenEntry, storeClose, storeEnd } from './attempt-store.ts'
import type { SendingContext } from './context.ts'
import type { EngineParts } from './engine-parts.ts'
import type { Entry, OpenAttempt } from './number-queue.ts'
import { matchRecord } from './match-record.ts'
import { loadMessages } from './outbound-message.ts'
import { clearQuarantine, oldestQuarantined } from './quarantine.ts'
import type { Scheduler } from './scheduler.ts'

/**
 * The `lookup` job, one for each extension that has attempts of unknown outcome or quarantined messages: it lists the provider's
 * message store once and closes every attempt that it can. Nothing is sent again before a lookup has found it absent.
 */
export const lookupJobs = (engine: EngineParts): JobKind<string> => ({
  name: 'lookup',
  bounds: { total: MAX_LOOKUPS_IN_FLIGHT, perTenant: MAX_LOOKUPS_PER_TENANT },
  maxPerLane: 1,
  load: (ids) => Promise.resolve(new Map(ids.map((id) => [id, id]))),
  run: (job) => lookUp(engine, job),
})

const MAX_LOOKUPS_IN_FLIGHT = 64
/** Half of all, so that hanging extensions of one tenant leave lookups for the others. */
const MAX_LOOKUPS_PER_TENANT = 32
/** The first lookup comes after 2 s. After that each delay equals the time since the attempt, at most 15 s. */
const MAX_LOOKUP_DELAY_MS = 15_000
const MIN_LOOKUP_DELAY_MS = 100
const MIN_DEFERRED_MS = 1000
/** Listings begin a little earlier than needed. */
const LISTING_MARGIN_MS = 60_000
/** The clock of another process may have been wrong by an hour. */
const OTHER_CLOCK_MS = HOUR_MS

interface Lookup {
  key: ExtensionKey
  /** Steady time. */
  beganAt: number
  /** Null if the message store could not be listed. */
  records: StoredSms[] | null
  /** Whether a missing record proves anything: every record could be read. */
  isComplete: boolean
  /** The ids of records that belong to messages already. */
  takenIds: Set<string>
  /** Set if the listing was deferred. */
  retryInMs: number | null
}

async function lookUp(engine: EngineParts, job: Job): Promise<JobOutcome> {
  const { context, scheduler } = engine
  const key = { tenantId: job.tenantId, extensionId: job.lane }
  const open = await openEntries(context, scheduler, key)
  const quarantinedSince = await oldestQuarantined(engine, key)
  if (open.length === 0 && quarantinedSince === null) return endJob(context, job)
  const lookup = await list(context, key, sinceOf(context, open, quarantinedSince))
  for (const one of open) await resolveAttempt(engine, one, lookup)
  const quarantineMs = quarantinedSince === null ? Infinity : await resolveQuarantine(engine, lookup)
  const left = scheduler.entries.unknown(key.tenantId, key.extensionId)
  const nextMs = Math.min(quarantineMs, ...left.map((entry) => msUntilNext(context, entry)))
  if (nextMs === Infinity) return endJob(context, job)
  if (lookup.retryInMs === null) return { type: 'snooze', delayMs: Math.max(nextMs, MIN_LOOKUP_DELAY_MS) }
  return { type: 'snooze', delayMs: Math.min(Math.max(lookup.retryInMs, MIN_DEFERRED_MS), MAX_LOOKUP_DELAY_MS) }
}

async function openEntries(
  { database }: SendingContext,
  scheduler: Scheduler,
  { tenantId, extensionId }: ExtensionKey,
): Promise<OpenEntry[]> {
  const entries = scheduler.entries.unknown(tenantId, extensionId)
  if (entries.length === 0) return []
  const messages = await loadMessages(
    database.gate,
    entries.map(({ messageId }) => messageId),
  )
  return entries.flatMap((entry) => {
    const message = messages.get(entry.messageId)
    return message === undefined || entry.attempt === null ? [] : [{ entry, message, attempt: entry.attempt }]
  })
}

/** Deletes the job, unless an attempt of unknown outcome was stored during the lookup. */
async function endJob({ database }: SendingContext, { seq, lane, tenantId }: Job): Promise<JobOutcome> {
  const sql = `DELETE FROM jobs WHERE seq = ?1 AND NOT EXISTS (SELECT 1 FROM send_attempts INDEXED BY send_attempts_open
    WHERE closed_at IS NULL AND outcome = 'unknown' AND extension_id = ?2 AND tenant_id = ?3) RETURNING seq`
  const [deleted] = await database.writer.write([{ sql, args: [seq, lane, tenantId] }])
  return deleted?.rows.length === 1 ? DONE : { type: 'snooze', delayMs: FIRST_LOOKUP_MS }
}

async function list(context: SendingContext, key: ExtensionKey, since: number): Promise<Lookup> {
  const { session, provider, clock } = context
  const beganAt = clock.steady()
  let unreadable = 0
  const query: MessageQuery = { direction: 'Outbound', since, skipped: () => void unreadable++ }
  const listed = await session.call(key, 'light', (token) => {
    unreadable = 0
    return provider.listMessages(token, query)
  })
  const records = listed.type === 'ok' ? listed.value : null
  const takenIds = await takenIdsOf(context, records ?? [])
  const retryInMs = listed.type === 'deferred' ? listed.retryInMs : null
  return { key, beganAt, records, isComplete: records !== null && unreadable === 0, takenIds, retryInMs }
}

/** The start of the listing, by the wall clock. */
function sinceOf({ clock }: SendingContext, open: readonly OpenEntry[], quarantinedSince: number | null): number {
  const ages = open.map(({ attempt }) => clock.steady() - attempt.startedAt + uncertaintyMs(attempt))
  if (quarantinedSince !== null) ages.push(clock.now() - quarantinedSince + OTHER_CLOCK_MS)
  return clock.now() - Math.max(...ages) - LISTING_MARGIN_MS
}

const uncertaintyMs = ({ isOwn, providerStartedAt }: OpenAttempt): number =>
  isOwn && providerStartedAt !== null ? 0 : OTHER_CLOCK_MS

/** When the attempt began by the provider's clock. An uncertain time is moved to its earliest. */
function attemptBeganAt({ provider }: SendingContext, { isOwn, startedAt, providerStartedAt }: OpenAttempt): number {
  if (providerStartedAt !== null) return providerStartedAt
  return startedAt - (provider.clockSkewMs() ?? 0) - (isOwn ? 0 : OTHER_CLOCK_MS)
}

/** The ids of records that belong to messages already. */
async function takenIdsOf({ database }: SendingContext, records: readonly StoredSms[]): Promise<Set<string>> {
  if (records.length === 0) return new Set()
  const { rows } = await database.gate.execute({
    sql: `SELECT rc_message_id FROM messages WHERE rc_message_id IN (SELECT value FROM json_each(?1)) AND direction = 'outbound'`,
    args: [JSON.stringify(records.map((record) => record.providerMessageId))],
  })
  return new Set(rows.map((row) => String(row['rc_message_id'])))
}

/** Closes an attempt if the lookup allows that. */
async function resolveAttempt(engine: EngineParts, open: OpenEntry, lookup: Lookup): Promise<void> {
  const { context } = engine
  const { entry, attempt, message } = open
  const sought = { from: entry.queue.number, to: entry.to, text: message.body, since: attemptBeganAt(context, attempt) }
  const record = matchRecord(sought, lookup.records ?? [], lookup.takenIds)
  if (record !== null) return storeFound(engine, open, record, lookup.takenIds)
  if (lookup.isComplete && lookup.beganAt >= (attempt.absentAfter ?? Infinity)) return storeAbsent(engine, open)
  if (context.clock.steady() >= givenUpAt(context, attempt)) await endUnconfirmed(engine, open, 'unconfirmed')
}

async function storeFound(
  { context, scheduler }: EngineParts,
  open: OpenEntry,
  record: StoredSms,
  takenIds: Set<string>,
): Promise<void> {
  takenIds.add(record.providerMessageId)
  const end = { type: 'sent', outcome: 'unknown', rcMessageId: record.providerMessageId } as const
  // If the record belongs to another message after all, the next lookup decides.
  if (await storeEnd(context, open, end, null, 'sent')) scheduler.forget(open.entry)
}

async function storeAbsent(engine: EngineParts, open: OpenEntry): Promise<void> {
  if (open.message.absents + 1 >= MAX_ABSENT_ATTEMPTS) return endUnconfirmed(engine, open, 'absent')
  await storeClose(engine.context, open, 'unknown', null, 'absent')
  const { entry } = open
  entry.isQuarantined = false
  engine.scheduler.freeConversation(entry)
  engine.scheduler.add(entry)
}

async function endUnconfirmed(
  { context, scheduler }: EngineParts,
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

/** Clears the quarantine if the lookup allows that. Returns the milliseconds until the next lookup; Infinity if none is needed. */
async function resolveQuarantine(engine: EngineParts, { key, beganAt, records, isComplete, takenIds }: Lookup) {
  const { context, quarantine } = engine
  if (records === null || !isComplete || beganAt < quarantine.endsAt) {
    const leftMs = quarantine.endsAt - context.clock.steady()
    return leftMs > 0 ? leftMs : MAX_LOOKUP_DELAY_MS
  }
  await clearQuarantine(engine, key, records, takenIds)
  return Infinity
}

/** The milliseconds until the next lookup of an attempt. */
function msUntilNext({ clock }: SendingContext, { attempt }: Entry): number {
  const steadyNow = clock.steady()
  const leftMs = (attempt?.absentAfter ?? steadyNow) - steadyNow
  const passedMs = steadyNow - (attempt?.startedAt ?? steadyNow)
  if (leftMs <= 0) return MAX_LOOKUP_DELAY_MS
  return Math.min(Math.max(passedMs, FIRST_LOOKUP_MS), MAX_LOOKUP_DELAY_MS, leftMs)
}
