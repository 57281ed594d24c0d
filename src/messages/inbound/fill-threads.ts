import { DAY_MS } from '../../core/limits.ts'
import type { CallResult } from '../../provider/extension-calls.ts'
import type { ExtensionRow } from '../../provider/directory.ts'
import type { ExtensionKey } from '../../provider/extension-rows.ts'
import { hasThreads, isFromBefore } from '../../provider/inbound-source.ts'
import {
  LIST_TOO_LONG,
  type Provider,
  type ProviderFailure,
  type ProviderResult,
  type StoredSms,
} from '../../provider/provider.ts'
import { noteRefusal } from '../../provider/refusals.ts'
import type { Gateway } from '../gateway.ts'
import { belongsTo, isProgressDue, MIN_SLICE_MS, sinceOf, skippedIn, storeUnknown } from './reading.ts'
import { inE164 } from './store-inbound.ts'
import { inboundOf } from './inbound-sms.ts'

/**
 * Reads new messages of message threads, and stores them as if an event had brought them. A sync continues from its token. Without a token,
 * messages are listed by time, because a full sync covers only open threads. Messages from before a change of a number's source are left to
 * the back-fill. Returns how many messages were missing, or null if they could not be read, or if sends need the extension's window: then they
 * are read when it has room.
 */
export async function fillThreads(
  gateway: Gateway,
  extension: ExtensionRow,
  { hasReserved = false } = {},
): Promise<number | null> {
  if (!hasReserved && !hasRoom(gateway, extension, extension.threadsToken === null ? FIRST_CALLS : CALLS)) {
    gateway.threads.changed(extension)
    return null
  }
  const now = gateway.clock.now()
  const read = await readNew(gateway, extension)
  if (read.type === 'failed' && (await isGone(gateway, keyOf(extension), read.failure))) return 0
  if (read.type !== 'ok') return null
  gateway.directory.refusals.clear(extension, 'threads')
  const { records, syncToken } = read.value
  const missing = await storeUnknown(gateway, extension, await ofThreads(gateway, extension, records))
  if (missing === null) return null
  const isDue = syncToken !== extension.threadsToken && extension.threadsToken === null
  if (missing > 0 || isDue || isProgressDue(extension.threadsReadUntil, now))
    await storeProgress(gateway, extension, { now, syncToken })
  return missing
}

/**
 * Records a failure, unless it is the first refusal and the account has lost the feature: then the source of its numbers has changed, and a
 * back-fill compares both sources. Otherwise the store would bring again texts that were read in threads.
 */
async function isGone(gateway: Gateway, key: ExtensionKey, failure: ProviderFailure): Promise<boolean> {
  const { directory, numbers, clock } = gateway
  const isKnown = directory.refusals.of(key, clock.now()).some(({ step }) => step === 'threads')
  if (failure.reason === 'rejected' && !isKnown) {
    await numbers.read(key)
    if (!hasThreads(await directory.tenant(key.tenantId), key)) return true
  }
  noteRefusal(gateway, { ...key, step: 'threads', failure })
  return false
}

interface NewMessages {
  records: StoredSms[]
  /** Null if the provider gave none. */
  syncToken: string | null
}

async function readNew(gateway: Gateway, extension: ExtensionRow): Promise<CallResult<NewMessages>> {
  const skipped = skippedIn(gateway, extension)
  const { threadsToken: syncToken } = extension
  if (syncToken !== null) {
    const synced = await call(gateway, extension, (provider, token) =>
      provider.syncThreads(token, { syncToken, skipped }),
    )
    if (!isOver(synced)) return synced
  }
  // Before the list, so that nothing arrives between the two.
  const started = await call(gateway, extension, (provider, token) => provider.startThreadSync(token))
  if (started.type !== 'ok' && !isTooLarge(started)) return started
  const listed = await listThreads(gateway, extension, {
    since: sinceOf(extension, extension.threadsReadUntil, gateway.clock.now()),
  })
  if (listed.type !== 'ok') return listed
  return { type: 'ok', value: { records: listed.value, syncToken: started.type === 'ok' ? started.value : null } }
}

/** The provider no longer knows the token. */
const isOver = (synced: CallResult<unknown>): boolean => synced.type === 'failed' && synced.failure.status === 400

/** A full sync has no pages. If it is too large to read, use lists. */
const isTooLarge = (started: CallResult<unknown>): boolean =>
  started.type === 'failed' && started.failure.status === 200

/** Lists the inbound messages of threads by time, in parts if there are too many for one list. */
export async function listThreads(
  gateway: Gateway,
  extension: ExtensionRow,
  { since, until = gateway.clock.now() + DAY_MS }: { since: number; until?: number },
): Promise<CallResult<StoredSms[]>> {
  const skipped = skippedIn(gateway, extension)
  const listed = await call(gateway, extension, (provider, token) =>
    provider.listThreadMessages(token, { since, until, skipped }),
  )
  const isTooLong = listed.type === 'failed' && listed.failure.code === LIST_TOO_LONG
  if (!isTooLong || until - since <= MIN_SLICE_MS) return listed
  const middle = Math.floor((since + until) / 2)
  const first = await listThreads(gateway, extension, { since, until: middle })
  if (first.type !== 'ok') return first
  const second = await listThreads(gateway, extension, { since: middle, until })
  return second.type === 'ok' ? { type: 'ok', value: [...first.value, ...second.value] } : second
}

/** A reading of threads, and one of the threads that it names. */
export const CALLS = 2
/** Without a token, threads are read and listed. */
export const FIRST_CALLS = 2 * CALLS

/** Whether the extension's window has room for a reading besides the calls it has counted. */
export function hasRoom({ quota }: Gateway, { extensionId }: ExtensionKey, calls = CALLS): boolean {
  const { used, limit } = quota.extensionUse(extensionId)
  return used + calls <= limit
}

/** These calls count for the limit of sends, which the provider shares between both, but a refusal pauses only these. */
function call<T>(
  { extensionCalls, provider, quota }: Gateway,
  extension: ExtensionRow,
  run: (provider: Provider, token: string) => Promise<ProviderResult<T>>,
): Promise<CallResult<T>> {
  return extensionCalls.make(keyOf(extension), 'threads', (token) => {
    quota.count(extension.extensionId, CALLS)
    return run(provider, token)
  })
}

const keyOf = ({ tenantId, extensionId }: ExtensionRow) => ({ tenantId, extensionId })

/** The relevant messages: to numbers whose texts are read in threads, from after the last change. */
async function ofThreads(gateway: Gateway, extension: ExtensionRow, records: readonly StoredSms[]) {
  const { numbers } = await gateway.directory.tenant(extension.tenantId)
  const wanted: StoredSms[] = []
  for (const record of records.filter((one) => belongsTo(extension, one))) {
    const { to } = await inE164(gateway, await inboundOf(gateway, extension, record))
    const row = numbers.get(to)
    const isTheirs = row === undefined || row.inboundSource === 'threads'
    if (isTheirs && !isFromBefore(row, record.createdAt)) wanted.push(record)
  }
  return wanted
}

/** Skipped if the numbers were read meanwhile, or the position has moved, as in `back-fill.ts`. */
async function storeProgress(
  { database, directory }: Gateway,
  { tenantId, extensionId, connectedAt, numbersReadAt, threadsReadUntil, threadsToken }: ExtensionRow,
  { now, syncToken }: { now: number; syncToken: string | null },
): Promise<void> {
  const sql = `UPDATE extensions SET threads_seen_at = ?3, threads_token = ?5
    WHERE tenant_id = ?1 AND extension_id = ?2 AND connected_at = ?4 AND numbers_read_at IS ?6
      AND threads_seen_at IS ?7 AND threads_token IS ?8`
  const args = [tenantId, extensionId, now, connectedAt, syncToken, numbersReadAt, threadsReadUntil, threadsToken]
  await database.writer.write([{ sql, args }])
  directory.forget(tenantId)
}
