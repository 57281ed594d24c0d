import { eq } from 'drizzle-orm'
import type { Caller } from '../../auth/caller.ts'
import { errorName } from '../../core/log.ts'
import { extensions, oauthStates, phoneNumbers, subscriptions } from '../../db/schema/connections.ts'
import { build, statementOf } from '../../db/statement.ts'
import type { Gateway } from '../../gateway.ts'
import type { ExtensionRow } from '../../provider/directory.ts'
import { HAS_OPEN_ATTEMPTS } from '../../db/open-attempts.ts'

const POLL_INTERVAL_MS = 50

/**
 * Disconnects the tenant. Waits for its open attempts, cleans up at the provider as far as the provider answers, and
 * deletes its tokens, numbers and subscriptions from the database. Its queued messages then fail.
 */
export async function disconnect(gateway: Gateway, caller: Pick<Caller, 'tenantId'>): Promise<{ ok: true }> {
  const { tenantId } = caller
  gateway.directory.close(tenantId)
  // The scheduler now skips the lines of this tenant.
  gateway.sending.wake(tenantId)
  try {
    await untilNoOpenAttempts(gateway, tenantId)
    const { extensions: connected } = await gateway.directory.tenant(tenantId)
    await Promise.all([...connected.values()].map((row) => cleanUp(gateway, row)))
    await deleteConnection(gateway, tenantId)
    for (const row of connected.values()) gateway.directory.refusals.forget(row)
  } finally {
    // Also after a failure, because messages that were accepted meanwhile are waiting.
    gateway.directory.reopen(tenantId)
    gateway.sending.wake(tenantId)
  }
  gateway.log.info({ tenantId }, 'disconnected')
  return { ok: true }
}

/** Waits until the tenant has no open attempt, at most for the time limit of a call and the settle time after it. */
async function untilNoOpenAttempts(gateway: Gateway, tenantId: string): Promise<void> {
  const { config, clock, database, sending } = gateway
  const deadline = clock.monotonic() + config.providerTimeoutMs + config.reconcileSettleMs
  while (clock.monotonic() < deadline) {
    const { rows } = await database.gate.execute({ sql: HAS_OPEN_ATTEMPTS, args: [tenantId] })
    // An attempt may have begun that is not in the database yet.
    if (rows.length === 0 && !sending.hasOpenAttempts(tenantId)) return
    await new Promise<void>((resolve) => clock.after(POLL_INTERVAL_MS, resolve))
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

async function deleteConnection(gateway: Gateway, tenantId: string): Promise<void> {
  try {
    await gateway.database.writer.write([
      statementOf(build.delete(phoneNumbers).where(eq(phoneNumbers.tenantId, tenantId))),
      statementOf(build.delete(subscriptions).where(eq(subscriptions.tenantId, tenantId))),
      statementOf(build.delete(oauthStates).where(eq(oauthStates.tenantId, tenantId))),
      statementOf(build.delete(extensions).where(eq(extensions.tenantId, tenantId))),
    ])
  } finally {
    // Also after an error, because the commit may have succeeded all the same. The cache would keep an extension that
    // is gone, and messages would wait for it for ever.
    gateway.directory.forget(tenantId)
    gateway.subscriptionTokens.forget()
  }
}
