import { DAY_MS, REFRESH_RETRY_MIN_MS } from '../../core/limits.ts'
import { errorName } from '../../core/log.ts'
import type { Gateway } from '../../gateway.ts'
import type { ExtensionRow } from '../../provider/directory.ts'

/** Every connected extension that is not revoked. */
async function liveExtensions(gateway: Gateway): Promise<ExtensionRow[]> {
  const { rows } = await gateway.database.gate.execute(
    `SELECT DISTINCT tenant_id FROM extensions WHERE status != 'revoked'`,
  )
  const entries = await Promise.all(rows.map((row) => gateway.directory.tenant(String(row['tenant_id']))))
  return entries.flatMap((entry) => [...entry.extensions.values()]).filter((row) => row.status !== 'revoked')
}

const AT_ONCE = 4

/** Does something with every extension that is active. One that fails or hangs keeps no other from its turn for long. */
export async function eachActive(
  gateway: Gateway,
  what: string,
  work: (row: ExtensionRow) => Promise<unknown>,
): Promise<void> {
  const waiting = (await liveExtensions(gateway)).filter((row) => row.status === 'active')
  const takeTurns = async (): Promise<void> => {
    for (let row = waiting.shift(); row !== undefined; row = waiting.shift()) await attempt(gateway, what, row, work)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, takeTurns))
}

async function attempt(
  { log }: Gateway,
  what: string,
  row: ExtensionRow,
  work: (row: ExtensionRow) => Promise<unknown>,
): Promise<void> {
  try {
    await work(row)
  } catch (error) {
    const { tenantId, extensionId } = row
    log.error(
      { tenantId, extensionId, what, error: errorName(error) },
      'upkeep of an extension failed, trying again later',
    )
  }
}

/**
 * Keeps every extension's subscription alive: renewed at half its life, made anew when missing or not Active.
 * `missed` is called for each that had none, because events of the gap are lost. True when one waits for the provider.
 */
export async function watchSubscriptions(
  gateway: Gateway,
  missed: (row: ExtensionRow) => Promise<unknown>,
): Promise<boolean> {
  let oneWaits = false
  await eachActive(gateway, 'subscription', async (row) => {
    const ensured = await gateway.subscriptions.ensure(row)
    if (ensured === 'waiting') oneWaits = true
    if (ensured === 'created') await missed(row)
  })
  return oneWaits
}

/** An extension that nobody uses keeps its refresh token only if it is refreshed; once a day is enough. */
export function keepAlive(gateway: Gateway): Promise<void> {
  return eachActive(gateway, 'keep-alive', async (row) => {
    if (gateway.clock.now() - row.refreshedAt >= DAY_MS) await gateway.tokens.refresh(row)
  })
}

/** Numbers come and go at the provider: they are read again once a day. */
export function readNumbersDaily(gateway: Gateway): Promise<void> {
  return eachActive(gateway, 'numbers', async (row) => {
    if (gateway.clock.now() - (row.numbersReadAt ?? 0) >= DAY_MS) await gateway.numbers.read(row)
  })
}

/** Takes up the retries of extensions whose refresh had failed before this start. */
export async function resumeRefreshes(gateway: Gateway): Promise<void> {
  // A clock that was set back meanwhile would make a stored time an hour of waiting.
  const latest = gateway.clock.now() + REFRESH_RETRY_MIN_MS
  for (const row of await liveExtensions(gateway))
    if (row.status === 'refresh_failed')
      gateway.tokens.planRetry({ ...row, nextRefreshAt: Math.min(row.nextRefreshAt ?? 0, latest) })
}
