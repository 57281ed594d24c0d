import { type SQL, and, eq } from 'drizzle-orm'
import type { Caller } from '../../core/caller.ts'
import { sleep } from '../../core/clock.ts'
import { apiError } from '../../core/errors.ts'
import { errorName } from '../../core/log.ts'
import type { Database } from '../../db/database.ts'
import { extensions, oauthStates, phoneNumbers, subscriptions } from '../../db/schema/connections.ts'
import type { Gateway } from '../../messages/gateway.ts'
import { backFill } from '../../messages/inbound/back-fill.ts'
import { removeSideSubscriptions } from '../../messages/upkeep/topic-subscriptions.ts'
import type { ConnectionScope, ExtensionRow } from '../../provider/directory.ts'
import { endStoredSession } from '../../provider/replaced-sessions.ts'

const POLL_INTERVAL_MS = 50

/**
 * Disconnects the tenant. Waits for its open attempts, cleans up at the provider if the provider answers, and
 * deletes its tokens, numbers and subscriptions from the database. Its queued messages then fail,
 * scheduled ones at their time.
 */
export const disconnect = (gateway: Gateway, { tenantId }: Pick<Caller, 'tenantId'>): Promise<{ ok: true }> =>
  end(gateway, { tenantId, extensionId: null })

/** Disconnects one extension of the tenant. Errors: `extensionNotFound`. */
export async function disconnectExtension(
  gateway: Gateway,
  { tenantId }: Pick<Caller, 'tenantId'>,
  extensionId: string,
): Promise<{ ok: true }> {
  if ((await gateway.directory.extension(tenantId, extensionId)) === null) throw apiError('extensionNotFound')
  return end(gateway, { tenantId, extensionId })
}

/** The disconnections in progress in each gateway, by scope. */
const running = new WeakMap<Gateway, Map<string, Promise<{ ok: true }>>>()

/** Calls during a disconnection of the same scope share it: one wait, and one clean-up at the provider. */
function end(gateway: Gateway, scope: ConnectionScope): Promise<{ ok: true }> {
  const own = running.get(gateway) ?? new Map<string, Promise<{ ok: true }>>()
  running.set(gateway, own)
  const name = `${scope.tenantId} ${scope.extensionId ?? ''}`
  const run = own.get(name) ?? endOnce(gateway, scope).finally(() => own.delete(name))
  own.set(name, run)
  return run
}

async function endOnce(gateway: Gateway, scope: ConnectionScope): Promise<{ ok: true }> {
  const { tenantId } = scope
  let count = 0
  gateway.directory.startDisconnecting(scope)
  // The scheduler now skips the queues of this scope.
  gateway.sending.wake(tenantId)
  try {
    await untilNoOpenAttempts(gateway, scope)
    const rows = await extensionsOf(gateway, scope)
    await Promise.all(rows.map((row) => cleanUp(gateway, row)))
    await deleteConnection(gateway, scope)
    for (const row of rows) gateway.directory.refusals.forget(row)
    count = rows.length
  } finally {
    // Even after a failure, because messages that were accepted during the disconnection are waiting.
    gateway.directory.endDisconnecting(scope)
    gateway.sending.wake(tenantId)
  }
  // A call that found nothing to disconnect has changed nothing.
  if (count > 0) gateway.log.audit({ tenantId, extensionId: scope.extensionId ?? undefined }, 'disconnected')
  return { ok: true }
}

/** Waits until the scope has no open attempt, at most for the time limit of a call and the settle time after it, both longer with media. */
async function untilNoOpenAttempts({ config, clock, sending }: Gateway, scope: ConnectionScope): Promise<void> {
  const began = clock.monotonic()
  const patienceMs = config.providerTimeoutMs + config.reconcileSettleMs
  while (clock.monotonic() < began + patienceMs + 2 * sending.longestUploadMs(scope.tenantId)) {
    if (!(await sending.hasOpenAttempts(scope))) return
    await sleep(clock, POLL_INTERVAL_MS)
  }
}

async function extensionsOf(
  { directory }: Gateway,
  { tenantId, extensionId }: ConnectionScope,
): Promise<ExtensionRow[]> {
  const tenant = await directory.tenant(tenantId)
  return [...tenant.extensions.values()].filter((row) => extensionId === null || row.extensionId === extensionId)
}

async function cleanUp(gateway: Gateway, row: ExtensionRow): Promise<void> {
  try {
    await gateway.subscriptions.remove(row)
    await removeSideSubscriptions(gateway, row)
    // Messages until now belong to the tenant, and a later connection starts from scratch.
    await backFill(gateway, row)
    await gateway.replacedSessions.end(row)
    await endStoredSession(gateway, row)
  } catch (error) {
    gateway.log.warn({ extensionId: row.extensionId, error: errorName(error) }, 'provider was not cleaned up')
  }
}

async function deleteConnection(gateway: Gateway, scope: ConnectionScope): Promise<void> {
  try {
    await deleteRows(gateway.database, scope)
  } finally {
    // Forgets even after an error, because the commit may have succeeded anyway. Otherwise, the cache would keep an extension that is gone, and
    // messages would wait for it forever.
    gateway.directory.forget(scope.tenantId)
    gateway.subscriptionTokens.forget()
  }
}

async function deleteRows({ orm }: Database, { tenantId, extensionId }: ConnectionScope): Promise<void> {
  const ofExtension = (table: typeof phoneNumbers | typeof subscriptions | typeof extensions): SQL | undefined =>
    extensionId === null ? undefined : eq(table.extensionId, extensionId)
  const deletes = [
    orm.delete(phoneNumbers).where(and(eq(phoneNumbers.tenantId, tenantId), ofExtension(phoneNumbers))),
    orm.delete(subscriptions).where(and(eq(subscriptions.tenantId, tenantId), ofExtension(subscriptions))),
    orm.delete(extensions).where(and(eq(extensions.tenantId, tenantId), ofExtension(extensions))),
  ] as const
  const states = orm.delete(oauthStates).where(eq(oauthStates.tenantId, tenantId))
  await orm.batch(extensionId === null ? [...deletes, states] : deletes)
}
