import { BACK_FILL_MAX_AGE_MS } from '../../core/limits.ts'
import type { ExtensionRow } from '../../provider/directory.ts'
import type { MessageQuery, StoredSms } from '../../provider/provider.ts'
import type { Gateway } from '../gateway.ts'
import { knownInbound } from './known-inbound.ts'
import { type InboundSms, inboundRuns, storeRun } from './store-inbound.ts'
import { inboundOf } from './inbound-sms.ts'

// Common parts of the back-fills of the message store and of message threads.

/** Windows overlap, because clocks differ and records may be listed late. Known messages are not stored again. */
export const OVERLAP_MS = 5 * 60_000
/** Slices also overlap, so a shorter slice would make no progress. */
export const MIN_SLICE_MS = 4 * OVERLAP_MS
/** Even a back-fill each minute commits nothing if it finds nothing: a commit makes the next send read its tenant again. */
const PROGRESS_EVERY_MS = 10 * 60_000

/** Where the next back-fill begins after everything up to `readUntil` was read; null if none has ended yet. */
export function sinceOf({ connectedAt }: ExtensionRow, readUntil: number | null, now: number): number {
  return Math.max(Math.min(readUntil ?? connectedAt, now) - OVERLAP_MS, now - BACK_FILL_MAX_AGE_MS)
}

/** Even after the clock was set back: otherwise, the next window would begin too late. */
export const isProgressDue = (readUntil: number | null, until: number): boolean =>
  until - (readUntil ?? 0) >= PROGRESS_EVERY_MS || until < (readUntil ?? 0)

/**
 * Messages from before the first connection are not the tenant's, although the overlap has them. Older releases stored only the last
 * connection.
 */
export const belongsTo = (
  { firstConnectedAt, backFilledUntil, connectedAt }: ExtensionRow,
  { createdAt }: StoredSms,
): boolean => createdAt >= (firstConnectedAt ?? (backFilledUntil === null ? connectedAt : 0))

export const skippedIn =
  ({ log }: Gateway, { tenantId, extensionId }: ExtensionRow): NonNullable<MessageQuery['skipped']> =>
  (record) =>
    log.warn({ tenantId, extensionId, ...record }, "a record of the provider's message store is unreadable: skipped")

/** Stores the missing messages; returns how many, or null if the gateway stops meanwhile. */
export async function storeUnknown(
  gateway: Gateway,
  extension: ExtensionRow,
  records: readonly StoredSms[],
): Promise<number | null> {
  let missing = 0
  for (const run of await unknownOf(gateway, extension, records)) {
    // Each message is a commit, and a stop would wait for all of them. The next start fills in the rest.
    if (gateway.lifecycle.draining) return null
    missing += await storeRun(gateway, run)
  }
  return missing
}

/**
 * The overlap holds messages that the last back-fill has seen, and a commit for each of these would wait for a flush, or with a replica for an
 * upload. A message that is stored here but not yet at the replica is there when the progress is.
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
