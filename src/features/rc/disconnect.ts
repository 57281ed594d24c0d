import type { Caller } from '../../auth/caller.ts'
import { apiError } from '../../core/errors.ts'
import { errorName } from '../../core/log.ts'
import { HAS_OPEN_ATTEMPTS } from '../../db/open-attempts.ts'
import type { Statement } from '../../db/writer.ts'
import type { Gateway } from '../../gateway.ts'
import type { ConnectionScope, ExtensionRow } from '../../provider/directory.ts'
import { hasOpenAttempts } from '../../sending/has-open-attempts.ts'

const LOOK_EVERY_MS = 50

/**
 * Ends the tenant's connection: lets sends that are under way come to their end, cleans up at the provider as far as it
 * answers, and deletes tokens, numbers and subscriptions here for certain. Queued messages then fail.
 */
export const disconnect = (gateway: Gateway, { tenantId }: Pick<Caller, 'tenantId'>): Promise<{ ok: true }> =>
  end(gateway, { tenantId, extensionId: null })

/** The same for one extension; the tenant's others go on. Errors: `extensionNotFound`. */
export async function disconnectExtension(
  gateway: Gateway,
  { tenantId }: Pick<Caller, 'tenantId'>,
  extensionId: string,
): Promise<{ ok: true }> {
  if ((await gateway.directory.extension(tenantId, extensionId)) === null) throw apiError('extensionNotFound')
  return end(gateway, { tenantId, extensionId })
}

async function end(gateway: Gateway, scope: ConnectionScope): Promise<{ ok: true }> {
  const { tenantId } = scope
  gateway.directory.close(scope)
  // Lines that wait for their turn give it up.
  gateway.sending.wake(tenantId)
  try {
    await untilSettled(gateway, scope)
    const extensions = await extensionsOf(gateway, scope)
    await Promise.all(extensions.map((row) => cleanUp(gateway, row)))
    await forget(gateway, scope)
    for (const row of extensions) gateway.directory.refusals.forget(row)
  } finally {
    // Also when it failed: the messages that came meanwhile wait.
    gateway.directory.reopen(scope)
    gateway.sending.wake(tenantId)
  }
  gateway.log.info({ tenantId, extensionId: scope.extensionId ?? undefined }, 'disconnected')
  return { ok: true }
}

/** Waits for the open attempts, at most as long as a call and its settling may take. */
async function untilSettled(gateway: Gateway, scope: ConnectionScope): Promise<void> {
  const { config, clock, database, sending } = gateway
  const args = [scope.tenantId, scope.extensionId]
  const deadline = clock.monotonic() + config.providerTimeoutMs + config.reconcileSettleMs
  while (clock.monotonic() < deadline) {
    const { rows } = await database.gate.execute({ sql: HAS_OPEN_ATTEMPTS, args })
    // Some may be on their way to the database.
    if (rows.length === 0 && !hasOpenAttempts(sending, scope)) return
    await new Promise<void>((resolve) => clock.after(LOOK_EVERY_MS, resolve))
  }
}

async function extensionsOf(
  { directory }: Gateway,
  { tenantId, extensionId }: ConnectionScope,
): Promise<ExtensionRow[]> {
  const { extensions } = await directory.tenant(tenantId)
  return [...extensions.values()].filter((row) => extensionId === null || row.extensionId === extensionId)
}

async function cleanUp(gateway: Gateway, row: ExtensionRow): Promise<void> {
  try {
    await gateway.subscriptions.remove(row)
    await gateway.provider.revoke(await gateway.tokens.openRefresh(row))
  } catch (error) {
    gateway.log.warn({ extensionId: row.extensionId, error: errorName(error) }, 'provider was not cleaned up')
  }
}

async function forget(gateway: Gateway, scope: ConnectionScope): Promise<void> {
  try {
    await gateway.database.writer.write(deletesOf(scope))
  } finally {
    // Also when it failed: a disk can fail after the commit, and messages would wait for ever for an extension that is gone.
    gateway.directory.forget(scope.tenantId)
    gateway.subscriptionTokens.forget()
  }
}

function deletesOf({ tenantId, extensionId }: ConnectionScope): Statement[] {
  if (extensionId === null)
    return ['phone_numbers', 'subscriptions', 'oauth_states', 'extensions'].map((table) => ({
      sql: `DELETE FROM ${table} WHERE tenant_id = ?1`,
      args: [tenantId],
    }))
  return ['phone_numbers', 'subscriptions', 'extensions'].map((table) => ({
    sql: `DELETE FROM ${table} WHERE tenant_id = ?1 AND extension_id = ?2`,
    args: [tenantId, extensionId],
  }))
}
