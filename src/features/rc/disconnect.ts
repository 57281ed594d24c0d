import type { Caller } from '../../auth/caller.ts'
import { errorName } from '../../core/log.ts'
import type { Gateway } from '../../gateway.ts'
import type { ExtensionRow } from '../../provider/directory.ts'
import { HAS_OPEN_ATTEMPTS } from '../../db/open-attempts.ts'

const LOOK_EVERY_MS = 50

/**
 * Ends the tenant's connection: lets sends that are under way come to their end, cleans up at the provider as far as it
 * answers, and deletes tokens, numbers and subscriptions here for certain. Queued messages then fail.
 */
export async function disconnect(gateway: Gateway, caller: Pick<Caller, 'tenantId'>): Promise<{ ok: true }> {
  const { tenantId } = caller
  gateway.directory.close(tenantId)
  // Lines that wait for their turn give it up.
  gateway.sending.wake(tenantId)
  try {
    await untilSettled(gateway, tenantId)
    const { extensions } = await gateway.directory.tenant(tenantId)
    await Promise.all([...extensions.values()].map((row) => cleanUp(gateway, row)))
    await forget(gateway, tenantId)
    for (const row of extensions.values()) gateway.directory.refusals.forget(row)
  } finally {
    // Also when it failed: the messages that came meanwhile wait.
    gateway.directory.reopen(tenantId)
    gateway.sending.wake(tenantId)
  }
  gateway.log.info({ tenantId }, 'disconnected')
  return { ok: true }
}

/** Waits for the tenant's open attempts, at most as long as a call and its settling may take. */
async function untilSettled(gateway: Gateway, tenantId: string): Promise<void> {
  const { config, clock, database, sending } = gateway
  const deadline = clock.monotonic() + config.providerTimeoutMs + config.reconcileSettleMs
  while (clock.monotonic() < deadline) {
    const { rows } = await database.gate.execute({ sql: HAS_OPEN_ATTEMPTS, args: [tenantId] })
    // Some may be on their way to the database.
    if (rows.length === 0 && !sending.hasOpenAttempts(tenantId)) return
    await new Promise<void>((resolve) => clock.after(LOOK_EVERY_MS, resolve))
  }
}

async function cleanUp(gateway: Gateway, row: ExtensionRow): Promise<void> {
  try {
    await gateway.subscriptions.remove(row)
    await gateway.provider.revoke(await gateway.tokens.decryptRefresh(row))
  } catch (error) {
    gateway.log.warn({ extensionId: row.extensionId, error: errorName(error) }, 'provider was not cleaned up')
  }
}

async function forget(gateway: Gateway, tenantId: string): Promise<void> {
  const tables = ['phone_numbers', 'subscriptions', 'oauth_states', 'extensions']
  const statements = tables.map((table) => ({ sql: `DELETE FROM ${table} WHERE tenant_id = ?1`, args: [tenantId] }))
  try {
    await gateway.database.writer.write(statements)
  } finally {
    // Also when it failed: a disk can fail after the commit, and messages would wait for ever for an extension that is gone.
    gateway.directory.forget(tenantId)
    gateway.subscriptionTokens.forget()
  }
}
