import { ne } from 'drizzle-orm'
import { DAY_MS, MAX_SUBSCRIBING, REFRESH_RETRY_MIN_MS } from '../../core/limits.ts'
import { errorName } from '../../core/log.ts'
import { extensions } from '../../db/schema/connections.ts'
import type { Gateway } from '../gateway.ts'
import { ensureSideSubscriptions } from './topic-subscriptions.ts'
import type { ExtensionRow } from '../../provider/directory.ts'
import { type ExtensionKey, nameExtension } from '../../provider/extension-rows.ts'
import type { Ensured } from '../../provider/inbound-subscriptions.ts'
import { noteRefusal } from '../../provider/refusals.ts'
import { decodeRefreshRefusal } from '../../provider/stored-refusals.ts'

/** All extensions that are not revoked. */
async function liveExtensions(gateway: Gateway): Promise<ExtensionRow[]> {
  const tenants = await gateway.database.orm
    .selectDistinct({ tenantId: extensions.tenantId })
    .from(extensions)
    .where(ne(extensions.status, 'revoked'))
  const entries = await Promise.all(tenants.map(({ tenantId }) => gateway.directory.tenant(tenantId)))
  return entries.flatMap((entry) => [...entry.extensions.values()]).filter((row) => row.status !== 'revoked')
}

const CONCURRENCY = 4

/** Runs `work` for every active extension, four at a time by default. Logs an extension that fails, and continues with the others. */
export async function eachActive(
  gateway: Gateway,
  what: string,
  work: (row: ExtensionRow) => Promise<unknown>,
  atOnce = CONCURRENCY,
): Promise<void> {
  const waiting = (await liveExtensions(gateway)).filter((row) => row.status === 'active')
  const runNext = async (): Promise<void> => {
    for (let row = waiting.shift(); row !== undefined; row = waiting.shift()) await runLogged(gateway, what, row, work)
  }
  await Promise.all(Array.from({ length: atOnce }, runNext))
}

async function runLogged(
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
 * Keeps the subscription of every extension alive: renews it at half its life, and creates it again if it is missing or
 * not Active. Calls `missed` for each one that it creates, because the events of the gap are lost.
 */
export const watchSubscriptions = (gateway: Gateway, missed: Missed): Promise<void> =>
  eachActive(gateway, 'subscription', (row) => ensureSubscription(gateway, row, missed), MAX_SUBSCRIBING)

/** The same for one extension, if it is still connected and active. */
export async function watchSubscription(gateway: Gateway, key: ExtensionKey, missed: Missed): Promise<void> {
  const row = await gateway.directory.extension(key.tenantId, key.extensionId)
  if (row?.status === 'active')
    await runLogged(gateway, 'subscription', row, (one) => ensureSubscription(gateway, one, missed))
}

type Missed = (row: ExtensionRow) => Promise<unknown>

async function ensureSubscription(gateway: Gateway, row: ExtensionRow, missed: Missed): Promise<void> {
  const ensured = await gateway.subscriptions.ensure(row)
  noteEnsured(gateway, row, ensured)
  if (ensured === 'created') await missed(row)
  await ensureSideSubscriptions(gateway, row)
  await endReplacedSessions(gateway, row)
}

function noteEnsured(gateway: Gateway, row: ExtensionRow, ensured: Ensured): void {
  const { tenantId, extensionId } = row
  const isActive = ensured === 'kept' || ensured === 'created'
  const failure = isActive ? null : gateway.subscriptions.refusal(row)
  // An active refusal is more informative than a wait.
  if (ensured === 'waiting' && isRefused(gateway, row)) return
  if (failure !== null) noteRefusal(gateway, { tenantId, extensionId, step: 'subscription', failure })
  else gateway.directory.refusals.clear(row, 'subscription')
}

/**
 * Ends sessions that a newer authorization of the extension has replaced, once no socket needs them. Not during a pause of its logins, which
 * the call would prolong.
 */
export async function endReplacedSessions(gateway: Gateway, key: ExtensionKey): Promise<void> {
  const { directory, replacedSessions, quota } = gateway
  const { subscriptions, threadSubscriptions, consentSubscriptions } = gateway
  if (quota.authWaitMs(key.extensionId, 'tokens') > 0) return
  const row = await directory.extension(key.tenantId, key.extensionId)
  const all = [subscriptions, threadSubscriptions, consentSubscriptions]
  const isNeeded = row !== null && all.some((one) => one.usesReplacedSession(row))
  if (!isNeeded) await replacedSessions.end(key)
}

const isRefused = ({ directory, clock }: Gateway, row: ExtensionRow): boolean =>
  directory.refusals.of(row, clock.now()).some(({ step }) => step === 'subscription')

/** Refreshes the tokens of every extension at least daily, because a refresh token that is never used expires. */
export function keepAlive(gateway: Gateway): Promise<void> {
  return eachActive(gateway, 'keep-alive', async (row) => {
    if (gateway.clock.now() - row.refreshedAt >= DAY_MS) await gateway.tokens.refresh(row)
  })
}

/** Reads the phone numbers and the name of every extension once a day, because they change at the provider; more often while it has no number. */
export function readNumbersDaily(gateway: Gateway): Promise<void> {
  return eachActive(gateway, 'numbers', async (row) => {
    if (gateway.clock.now() - (row.numbersReadAt ?? 0) < DAY_MS) return
    const { tenantId, extensionId } = row
    const read = await gateway.numbers.read(row)
    if (read.type === 'failed') noteRefusal(gateway, { tenantId, extensionId, step: 'numbers', failure: read.failure })
    if (read.type !== 'ok') return
    await readNames(gateway, row)
  })
}

async function readNames({ extensionCalls, provider, database, directory }: Gateway, row: ExtensionRow): Promise<void> {
  const read = await extensionCalls.make(row, 'light', (token) => provider.getExtension(token))
  if (read.type !== 'ok') return
  await nameExtension(database.orm, row, read.value)
  directory.forget(row.tenantId)
}

/** The start may have a new client id or secret, which may have been the fault. */
const isAboutApp = ({ refreshRefusal }: ExtensionRow): boolean =>
  ['invalid_client', 'unauthorized_client'].includes(decodeRefreshRefusal(refreshRefusal)?.failure.oauthError ?? '')

/** Schedules the next refresh of extensions whose refresh had failed before this start. */
export async function resumeRefreshes(gateway: Gateway): Promise<void> {
  for (const row of await liveExtensions(gateway)) {
    if (row.status !== 'refresh_failed') continue
    const delayMs = isAboutApp(row) ? 0 : Math.max(0, (row.nextRefreshAt ?? 0) - gateway.clock.now())
    // Without this limit, a clock that was set back by an hour would delay the refresh by an hour.
    gateway.tokens.planRetry(row, Math.min(delayMs, REFRESH_RETRY_MIN_MS))
  }
}
