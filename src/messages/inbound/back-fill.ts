import type { Gateway } from '../gateway.ts'
import type { ExtensionRow } from '../../provider/directory.ts'
import type { Job, JobKind, JobOutcome } from '../jobs/job.ts'
import { deleteJob } from '../jobs/job-rows.ts'
import type { CallResult } from '../../provider/extension-calls.ts'
import { hasThreads } from '../../provider/inbound-source.ts'
import { LIST_TOO_LONG, type MessageQuery, type ProviderFailure, type StoredSms } from '../../provider/provider.ts'
import { noteRefusal } from '../../provider/refusals.ts'
import { withoutTwins } from './change-of-source.ts'
import { fillThreads } from './fill-threads.ts'
import { belongsTo, isProgressDue, MIN_SLICE_MS, OVERLAP_MS, sinceOf, skippedIn, storeUnknown } from './reading.ts'

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
 * Reads the inbound messages in the provider's store and message threads since the last successful back-fill, and stores each one as if its
 * event had arrived. Returns how many were missing, or null if the store could not be listed or the gateway stops.
 */
export async function backFill(gateway: Gateway, extension: ExtensionRow): Promise<number | null> {
  const tenant = await gateway.directory.tenant(extension.tenantId)
  const missing = await fillStore(gateway, extension)
  if (missing === null || !hasThreads(tenant, extension)) return missing
  // If threads cannot be read, the store need not be read again.
  return missing + ((await fillThreads(gateway, extension)) ?? 0)
}

/** A period with too many messages for one listing is read in slices. Finished slices are not listed again. */
async function fillStore(gateway: Gateway, extension: ExtensionRow): Promise<number | null> {
  const now = gateway.clock.now()
  let missing = 0
  let seen = extension.backFilledUntil
  let slice = { since: sinceOf(extension, extension.backFilledUntil, now), until: now }
  for (;;) {
    const listed = await listInbound(gateway, extension, slice, now)
    if (isTooLong(listed) && slice.until - slice.since > MIN_SLICE_MS) {
      slice.until = Math.floor((slice.since + slice.until) / 2)
      continue
    }
    if (listed.type === 'failed') rememberRefusal(gateway, extension, listed.failure)
    if (listed.type !== 'ok') return null
    gateway.directory.refusals.clear(extension, 'messages')
    const stored = await storeSlice(gateway, extension, slice, listed.value)
    if (stored === null) return null
    missing += stored
    if (missing > 0 || isProgressDue(extension.backFilledUntil, slice.until)) {
      await storeProgress(gateway, extension, seen, slice.until)
      seen = slice.until
    }
    if (slice.until === now) break
    slice = { since: slice.until - OVERLAP_MS, until: now }
  }
  logMissing(gateway, extension, missing)
  return missing
}

interface Slice {
  since: number
  until: number
}

async function listInbound(
  gateway: Gateway,
  extension: ExtensionRow,
  { since, until }: Slice,
  now: number,
): Promise<CallResult<StoredSms[]>> {
  const skipped = skippedIn(gateway, extension)
  const query: MessageQuery = { direction: 'Inbound', since, ...(until < now ? { until } : {}), skipped }
  const listed = await gateway.messageListings.list(extension, () => query, 'back_fill')
  return listed.type === 'ok' ? { type: 'ok', value: listed.value.records } : listed
}

async function storeSlice(
  gateway: Gateway,
  extension: ExtensionRow,
  slice: Slice,
  listed: readonly StoredSms[],
): Promise<number | null> {
  const records = await withoutTwins(gateway, extension, slice, listed)
  if (records === null) return null
  const own = records.filter((record) => belongsTo(extension, record))
  return storeUnknown(gateway, extension, own)
}

const isTooLong = (listed: CallResult<unknown>): boolean =>
  listed.type === 'failed' && listed.failure.code === LIST_TOO_LONG

function rememberRefusal(gateway: Gateway, { tenantId, extensionId }: ExtensionRow, failure: ProviderFailure): void {
  noteRefusal(gateway, { tenantId, extensionId, step: 'messages', failure })
}

function logMissing({ log }: Gateway, { tenantId, extensionId }: ExtensionRow, missing: number): void {
  if (missing > 0) log.info({ tenantId, extensionId, missing }, 'inbound messages were filled in')
}

/** Skipped if the numbers were read meanwhile, or the position has moved: a change of source may have moved it back. */
async function storeProgress(
  { database, directory }: Gateway,
  { tenantId, extensionId, connectedAt, numbersReadAt }: ExtensionRow,
  seen: number | null,
  until: number,
): Promise<void> {
  const sql = `UPDATE extensions SET inbound_seen_at = ?3
    WHERE tenant_id = ?1 AND extension_id = ?2 AND connected_at = ?4 AND numbers_read_at IS ?5 AND inbound_seen_at IS ?6`
  await database.writer.write([{ sql, args: [tenantId, extensionId, until, connectedAt, numbersReadAt, seen] }])
  directory.forget(tenantId)
}
