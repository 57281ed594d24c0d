import type { ExtensionRow } from '../../provider/directory.ts'
import { hasReadableThreads } from '../../provider/inbound-source.ts'
import { deleteSubscriptions, hasSubscriptions, type TopicKey } from '../../provider/subscription-rows.ts'
import type { Gateway } from '../gateway.ts'
import { hasRoom } from '../inbound/fill-threads.ts'

const AGAIN_MS = 15_000

/**
 * Keeps a subscription for events of message threads alive where the extension has threads that it may read, and ends it elsewhere. Without
 * one, threads are read each minute, so a refusal is only logged.
 */
export async function ensureThreadSubscription(gateway: Gateway, row: ExtensionRow): Promise<void> {
  const { directory, threadSubscriptions, threads, log, clock } = gateway
  const tenant = await directory.tenant(row.tenantId)
  if (!hasReadableThreads(directory, tenant, row, clock.now())) return removeThreadSubscription(gateway, row)
  const { tenantId, extensionId } = row
  const isNew = !(await hasSubscriptions(gateway.database.orm, { tenantId, extensionId, topic: 'threads' }))
  // Creating one counts for the limit of sends, and threads are read all the same.
  if (isNew && !hasRoom(gateway, row)) return threadSubscriptions.planned(row, AGAIN_MS, false)
  const ensured = await threadSubscriptions.ensure(row)
  const failure = threadSubscriptions.refusal(row)
  if (ensured === 'failed' && failure !== null)
    log.warn({ tenantId, extensionId, status: failure.status, code: failure.code }, 'no events of message threads')
  // What came while there was none.
  if (ensured === 'created') threads.changed(row)
}

/** Ends the subscription for events of message threads, if there is one. */
export async function removeThreadSubscription(
  gateway: Gateway,
  { tenantId, extensionId }: ExtensionRow,
): Promise<void> {
  const { database, threadSubscriptions, subscriptionTokens } = gateway
  const key: TopicKey = { tenantId, extensionId, topic: 'threads' }
  if (!(await hasSubscriptions(database.orm, key))) return
  await threadSubscriptions.remove(key)
  await deleteSubscriptions(database.orm, key)
  subscriptionTokens.forget()
}
