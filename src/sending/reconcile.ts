import { HOUR_MS, MAX_ABSENT_ATTEMPTS, MAX_RECONCILE_MS } from '../core/limits.ts'
import { MESSAGE_FAILURES } from '../core/message-failure.ts'
import { DONE, type Job, type JobKind, type JobOutcome } from '../jobs/job.ts'
import type { MessageQuery, StoredSms } from '../provider/provider.ts'
import type { CallResult } from '../provider/session.ts'
import { type OpenEntry, storeClose, storeEnd } from './attempt-store.ts'
import { acceptedEnd } from './call-end.ts'
import type { SendingContext } from './context.ts'
import type { OpenAttempt } from './number-queue.ts'
import { matchRecord } from './match-record.ts'
import { loadMessages } from './outbound-message.ts'
import { type ExtensionOfTenant, Quarantine, oldestQuarantined, releaseQuarantined } from './quarantine.ts'
import type { Scheduler } from './scheduler.ts'

/** The parts of the engine that lookups use. */
export interface Reconciling {
  context: SendingContext
  scheduler: Scheduler
  quarantine: Quarantine
}

/**
 * The `lookup` job, one for each extension that has attempts of unknown outcome or quarantined messages: it lists the provider's
 * message store once and closes every attempt that it can. Nothing is sent again before a lookup has found it absent.
 */
export const lookupJobs = (engine: Reconciling): JobKind<string> => ({
  name: 'lookup',
  maxInFlight: MAX_LOOKUPS_IN_FLIGHT,
  maxPerLane: 1,
  load: (ids) => Promise.resolve(new Map(ids.map((id) => [id, id]))),
  run: (job) => lookUp(engine, job),
})

const MAX_LOOKUPS_IN_FLIGHT = 64
/** The first lookup comes after 2 s. Each further one doubles the time since the attempt, in steps of 15 s at most. */
const FIRST_LOOKUP_MS = 2000
const LOOKUP_EVERY_MS = 15_000
const MIN_LOOKUP_MS = 100
/** Listings begin a little earlier than needed. */
const LISTING_MARGIN_MS = 60_000
/** Another run of the process had another clock, which may have been wrong by an hour. */
const OTHER_CLOCK_MS = HOUR_MS

async function lookUp({ context, scheduler, quarantine }: Reconciling, job: Job): Promise<JobOutcome> {
  const key = { tenantId: job.tenantId, extensionId: job.lane }
  const open = await openEntries(context, scheduler, key)
  const quarantinedAt = await oldestQuarantined(context, quarantine, key)
  if (open.length === 0 && quarantinedAt === null) return endJob(context, job)
  const at = context.clock.steady()
  const listed = await listSince(context, key, sinceOf(context, open, quarantinedAt))
  const taken = listed.type === 'ok' ? await boundIds(context, listed.value) : new Set<string>()
  for (const one of open) await conclude(context, scheduler, one, listed, at, taken)
  const isOver = at >= quarantine.endsAt && listed.type === 'ok' && listed.unreadable === 0
  if (quarantinedAt !== null && isOver) await releaseQuarantined(context, scheduler, key, listed.value, taken)
  const left = scheduler.entries.unknown(key.tenantId, key.extensionId)
  const isQuarantined = quarantinedAt !== null && !isOver
  if (left.length === 0 && !isQuarantined) return endJob(context, job)
  const waiting = [...left.map(({ attempt }) => attempt), ...(isQuarantined ? [quarantine] : [])]
  return { type: 'snooze', delayMs: nextLookupMs(context, waiting, listed) }
}

async function openEntries(
  { database }: SendingContext,
  scheduler: Scheduler,
  { tenantId, extensionId }: ExtensionOfTenant,
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

/** Deletes the job, unless an attempt of unknown outcome was stored meanwhile. */
async function endJob({ database }: SendingContext, { seq, lane, tenantId }: Job): Promise<JobOutcome> {
  const sql = `DELETE FROM jobs WHERE seq = ?1 AND NOT EXISTS (SELECT 1 FROM send_attempts INDEXED BY send_attempts_open
    WHERE closed_at IS NULL AND outcome = 'unknown' AND extension_id = ?2 AND tenant_id = ?3) RETURNING seq`
  const [deleted] = await database.writer.write([{ sql, args: [seq, lane, tenantId] }])
  return deleted?.rows.length === 1 ? DONE : { type: 'snooze', delayMs: FIRST_LOOKUP_MS }
}

type Listing = CallResult<StoredSms[]> & { unreadable: number }

async function listSince(
  { session, provider }: SendingContext,
  key: ExtensionOfTenant,
  since: number,
): Promise<Listing> {
  let unreadable = 0
  const query: MessageQuery = { direction: 'Outbound', since, skipped: () => void unreadable++ }
  const listed = await session.call(key, 'light', (token) => {
    unreadable = 0
    return provider.listMessages(token, query)
  })
  return { ...listed, unreadable }
}

/** The start of the listing, by the wall clock. */
function sinceOf({ clock }: SendingContext, open: readonly OpenEntry[], quarantinedAt: number | null): number {
  const ages = open.map(({ attempt }) => clock.steady() - attempt.startedAt + uncertaintyMs(attempt))
  if (quarantinedAt !== null) ages.push(clock.now() - quarantinedAt + OTHER_CLOCK_MS)
  return clock.now() - Math.max(...ages) - LISTING_MARGIN_MS
}

const uncertaintyMs = ({ isOwn, providerStartedAt }: OpenAttempt): number =>
  isOwn && providerStartedAt !== null ? 0 : OTHER_CLOCK_MS

/** When the attempt began by the provider's clock. An uncertain time is moved to its earliest. */
function beganAt({ provider }: SendingContext, { isOwn, startedAt, providerStartedAt }: OpenAttempt): number {
  if (providerStartedAt !== null) return providerStartedAt
  return startedAt - (provider.clockSkewMs() ?? 0) - (isOwn ? 0 : OTHER_CLOCK_MS)
}

/** The ids of records that belong to messages already. */
async function boundIds({ database }: SendingContext, records: readonly StoredSms[]): Promise<Set<string>> {
  const { rows } = await database.gate.execute({
    sql: `SELECT rc_message_id FROM messages WHERE rc_message_id IN (SELECT value FROM json_each(?1)) AND direction = 'outbound'`,
    args: [JSON.stringify(records.map((record) => record.providerMessageId))],
  })
  return new Set(rows.map((row) => String(row['rc_message_id'])))
}

/** Closes an attempt if the listing allows that. `at` is the steady time at which the lookup began. */
async function conclude(
  context: SendingContext,
  scheduler: Scheduler,
  open: OpenEntry,
  listed: Listing,
  at: number,
  taken: Set<string>,
): Promise<void> {
  const { entry, attempt, message } = open
  if (listed.type === 'ok') {
    const sought = { from: entry.queue.number, to: entry.to, text: message.body, since: beganAt(context, attempt) }
    const record = matchRecord(sought, listed.value, taken)
    if (record !== null) return found(context, scheduler, open, record, taken)
    const isAbsent = listed.unreadable === 0 && at >= (attempt.absentAfter ?? Infinity)
    if (isAbsent) return absent(context, scheduler, open)
  }
  if (context.clock.steady() >= givenUpAt(context, attempt)) await end(context, scheduler, open, 'unconfirmed')
}

async function found(
  context: SendingContext,
  scheduler: Scheduler,
  open: OpenEntry,
  record: StoredSms,
  taken: Set<string>,
): Promise<void> {
  taken.add(record.providerMessageId)
  const hasFailed = record.messageStatus === 'SendingFailed' || record.messageStatus === 'DeliveryFailed'
  const result = acceptedEnd(record.providerMessageId, hasFailed)
  if (result.type !== 'sent' && result.type !== 'failed') return
  // If the record belongs to another message after all, the next lookup decides.
  if (await storeEnd(context, open, { ...result, outcome: 'unknown' }, null, 'sent')) scheduler.ended(open.entry)
}

async function absent(context: SendingContext, scheduler: Scheduler, open: OpenEntry): Promise<void> {
  if (open.message.absents + 1 >= MAX_ABSENT_ATTEMPTS) return end(context, scheduler, open, 'absent')
  await storeClose(context, open, 'unknown', null, 'absent')
  const { entry } = open
  entry.isQuarantined = false
  scheduler.closed(entry)
  scheduler.add(entry)
}

async function end(
  context: SendingContext,
  scheduler: Scheduler,
  open: OpenEntry,
  resolution: 'absent' | 'unconfirmed',
): Promise<void> {
  const failure = MESSAGE_FAILURES.unconfirmed
  const result = { type: 'failed', outcome: 'unknown', rcMessageId: null, failure } as const
  if (await storeEnd(context, open, result, null, resolution)) scheduler.ended(open.entry)
}

/** Steady time at which an attempt ends as unconfirmed. It is never before a lookup could have found it absent. */
function givenUpAt({ config }: SendingContext, { absentAfter }: OpenAttempt): number {
  return (absentAfter ?? Infinity) + Math.max(0, MAX_RECONCILE_MS - config.reconcileSettleMs)
}

/** Milliseconds until the next lookup. `waiting`: open attempts, and the quarantine if messages wait for its end. */
function nextLookupMs(
  { clock }: SendingContext,
  waiting: readonly (OpenAttempt | Quarantine | null)[],
  listed: Listing,
): number {
  if (listed.type === 'waiting') return Math.min(Math.max(listed.retryInMs, 1000), LOOKUP_EVERY_MS)
  const now = clock.steady()
  const delays = waiting.map((one) => {
    if (one instanceof Quarantine) return one.endsAt > now ? one.endsAt - now : LOOKUP_EVERY_MS
    const leftMs = (one?.absentAfter ?? now) - now
    const passedMs = now - (one?.startedAt ?? now)
    return leftMs <= 0 ? LOOKUP_EVERY_MS : Math.min(Math.max(passedMs, FIRST_LOOKUP_MS), LOOKUP_EVERY_MS, leftMs)
  })
  return Math.max(Math.min(...delays), MIN_LOOKUP_MS)
}
