import { BACK_FILL_MAX_AGE_MS } from '../../core/limits.ts'
import type { Gateway } from '../gateway.ts'
import type { ExtensionRow } from '../../provider/directory.ts'
import type { Job, JobKind, JobOutcome } from '../jobs/job.ts'
import { deleteJob } from '../jobs/job-rows.ts'
import { LIST_TOO_LONG, type MessageQuery, type ProviderFailure, type StoredSms } from '../../provider/provider.ts'
import { noteRefusal } from '../../provider/refusals.ts'
import type { MessageListing } from '../../provider/message-listings.ts'
import type { CallResult } from '../../provider/extension-calls.ts'
import { knownInbound } from './known-inbound.ts'
import { type InboundSms, inboundRuns, storeRun } from './store-inbound.ts'
import { inboundOf } from './store-received.ts'

/** Windows overlap, because clocks differ and records may be listed late. Known messages are not stored again. */
const OVERLAP_MS = 5 * 60_000
/** Slices overlap as well, so a shorter slice would make no progress. */
const MIN_SLICE_MS = 4 * OVERLAP_MS
/** A back-fill each minute that finds nothing commits nothing: a commit makes the next send read its tenant anew. */
const PROGRESS_EVERY_MS = 10 * 60_000

/** The `back_fill` job. It is created when an extension is connected, so that no message is missed before its first event. */
export const backFillJobs = (gateway: Gateway): JobKind<string> => ({
  name: 'back_fill',
  bounds: { total: 4, perTenant: 2 },
  maxPerLane: 1,
  load: (ids) => Promise.resolve(new Map(ids.map((id) => [id, id]))),
  run: (job) => runBackFill(gateway, job),
})

const TRY_AGAIN_MS = 30_000

async function runBackFill(gateway: Gateway, job: Job): Promise<JobOutcome> {
  const extension = await gateway.directory.extension(job.tenantId, job.subject)
  const usable = extension !== null && extension.status !== 'revoked'
  if (usable && (await backFill(gateway, extension)) === null)
    return { type: 'snooze', delayMs: gateway.lifecycle.draining ? 0 : TRY_AGAIN_MS }
  return deleteJob(gateway.database, job)
}

/**
 * Lists the inbound messages of the provider's store since the last back-fill that succeeded, and stores each one as if its
 * event had come. A time with too many messages for one listing is read in slices. Returns how many were missing, or null if
 * the store could not be listed or the gateway stops; finished slices are not listed again.
 */
export async function backFill(gateway: Gateway, extension: ExtensionRow): Promise<number | null> {
  const now = gateway.clock.now()
  let missing = 0
  let slice = { since: sinceOf(extension, now), until: now }
  for (;;) {
    const listed = await listInbound(gateway, extension, slice, now)
    if (isTooLong(listed) && slice.until - slice.since > MIN_SLICE_MS) {
      slice.until = Math.floor((slice.since + slice.until) / 2)
      continue
    }
    if (listed.type === 'failed') rememberRefusal(gateway, extension, listed.failure)
    if (listed.type !== 'ok') return null
    gateway.directory.refusals.clear(extension, 'messages')
    const records = listed.value.records.filter((record) => belongsTo(extension, record))
    for (const run of await unknownOf(gateway, extension, records)) {
      // Each one is a commit, and a stop would wait for all of them. The next start fills in the rest.
      if (gateway.lifecycle.draining) return null
      missing += await storeRun(gateway, run)
    }
    if (missing > 0 || isProgressDue(extension, slice.until)) await storeProgress(gateway, extension, slice.until)
    if (slice.until === now) break
    slice = { since: slice.until - OVERLAP_MS, until: now }
  }
  logMissing(gateway, extension, missing)
  return missing
}

function listInbound(
  { messageListings, log }: Gateway,
  extension: ExtensionRow,
  { since, until }: { since: number; until: number },
  now: number,
): Promise<CallResult<MessageListing>> {
  const { tenantId, extensionId } = extension
  const query: MessageQuery = {
    direction: 'Inbound',
    since,
    ...(until < now ? { until } : {}),
    skipped: (record) =>
      log.warn({ tenantId, extensionId, ...record }, "a record of the provider's message store is unreadable: skipped"),
  }
  return messageListings.list(extension, () => query, 'back_fill')
}

const isTooLong = (listed: CallResult<MessageListing>): boolean =>
  listed.type === 'failed' && listed.failure.code === LIST_TOO_LONG

function rememberRefusal(gateway: Gateway, { tenantId, extensionId }: ExtensionRow, failure: ProviderFailure): void {
  noteRefusal(gateway, { tenantId, extensionId, step: 'messages', failure })
}

function logMissing({ log }: Gateway, { tenantId, extensionId }: ExtensionRow, missing: number): void {
  if (missing > 0) log.info({ tenantId, extensionId, missing }, 'inbound messages were filled in')
}

function sinceOf({ backFilledUntil, connectedAt }: ExtensionRow, now: number): number {
  return Math.max(Math.min(backFilledUntil ?? connectedAt, now) - OVERLAP_MS, now - BACK_FILL_MAX_AGE_MS)
}

/** Messages from before the first connection are not the tenant's, although the overlap has them. Of an older release only the last connection is known. */
const belongsTo = (
  { firstConnectedAt, backFilledUntil, connectedAt }: ExtensionRow,
  { createdAt }: StoredSms,
): boolean => createdAt >= (firstConnectedAt ?? (backFilledUntil === null ? connectedAt : 0))

/**
 * The overlap holds what the last back-fill has seen, and a commit for each of these would wait for a flush, with a replica for an upload.
 * One that is stored here but not at the replica yet is there when the progress is.
 */
async function unknownOf(
  gateway: Gateway,
  extension: ExtensionRow,
  records: readonly StoredSms[],
): Promise<InboundSms[][]> {
  const ids = records.map(({ providerMessageId }) => providerMessageId)
  const known = await knownInbound(gateway, extension.tenantId, ids)
  const unknown = records.filter(({ providerMessageId }) => !known.has(providerMessageId))
  return inboundRuns(gateway, await Promise.all(unknown.map((record) => inboundOf(gateway, extension, record))))
}

/** Also after the clock was set back: else the next window would begin too late. */
const isProgressDue = ({ backFilledUntil }: ExtensionRow, until: number): boolean =>
  until - (backFilledUntil ?? 0) >= PROGRESS_EVERY_MS || until < (backFilledUntil ?? 0)

async function storeProgress(gateway: Gateway, extension: ExtensionRow, until: number): Promise<void> {
  const sql =
    'UPDATE extensions SET inbound_seen_at = ?3 WHERE tenant_id = ?1 AND extension_id = ?2 AND connected_at = ?4'
  await gateway.database.writer.write([
    { sql, args: [extension.tenantId, extension.extensionId, until, extension.connectedAt] },
  ])
  gateway.directory.forget(extension.tenantId)
}
