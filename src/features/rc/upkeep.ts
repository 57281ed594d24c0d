import { DAY_MS } from '../../core/limits.ts'
import type { Gateway } from '../../gateway.ts'
import type { ExtensionRow } from '../../provider/directory.ts'

/** Every connected extension that is not revoked. */
export async function liveExtensions(gateway: Gateway): Promise<ExtensionRow[]> {
  const { rows } = await gateway.database.gate.execute(
    `SELECT DISTINCT tenant_id FROM extensions WHERE status != 'revoked'`,
  )
  const entries = await Promise.all(rows.map((row) => gateway.directory.tenant(String(row['tenant_id']))))
  return entries.flatMap((entry) => [...entry.extensions.values()]).filter((row) => row.status !== 'revoked')
}

/**
 * Keeps every extension's subscription alive: renewed at half its life, made anew when missing or not Active.
 * `missed` is called for each that had none, because events of the gap are lost.
 */
export async function watchSubscriptions(
  gateway: Gateway,
  missed: (row: ExtensionRow) => Promise<unknown>,
): Promise<void> {
  for (const row of await liveExtensions(gateway)) {
    if (row.status !== 'active') continue
    if ((await gateway.subscriptions.ensure(row)) === 'created') await missed(row)
  }
}

/** An extension that nobody uses keeps its refresh token only if it is refreshed; once a day is enough. */
export async function keepAlive(gateway: Gateway): Promise<void> {
  for (const row of await liveExtensions(gateway)) {
    if (row.status === 'active' && gateway.clock.now() - row.refreshedAt >= DAY_MS) await gateway.tokens.refresh(row)
  }
}

/** Numbers come and go at the provider: they are read again once a day. */
export async function readNumbersDaily(gateway: Gateway): Promise<void> {
  for (const row of await liveExtensions(gateway)) {
    if (row.status === 'active' && gateway.clock.now() - (row.numbersReadAt ?? 0) >= DAY_MS)
      await gateway.numbers.read(row)
  }
}

/** Takes up the retries of extensions whose refresh had failed before this start. */
export async function resumeRefreshes(gateway: Gateway): Promise<void> {
  for (const row of await liveExtensions(gateway)) if (row.status === 'refresh_failed') gateway.tokens.planRetry(row)
}
