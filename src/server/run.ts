import { existsSync } from 'node:fs'
import { atMost } from '../core/at-most.ts'
import { EXIT, StartError } from '../core/start-error.ts'
import { saidOfLost, describeUnnamed } from '../auth/lost-keys.ts'
import { createSecrets } from '../core/secrets.ts'
import { encryptionKeyPath, keptKey } from '../db/data-folder.ts'
import { noteDurability } from '../db/restore-mark.ts'
import type { Gateway } from '../messages/gateway.ts'
import { textOf } from '../operator/conditions/condition.ts'
import { describeRefused } from '../operator/doctor/refused-destinations.ts'
import { refuseTakenPort, startListening, stopListening, urlHost } from '../api/http/listener.ts'
import type { Timers } from '../messages/jobs/timers.ts'
import { type RunOptions, openGateway } from './open-gateway.ts'
import { asStartError } from './start-failure.ts'
import { recover, registerJobs, startTimers } from './worker.ts'

/** A gateway that accepts requests. */
export interface RunningGateway {
  gateway: Gateway
  /** Base address of the listener, without a trailing slash. */
  url: string
  /** Base address of the admin listener, if there is one. */
  adminUrl: string | null
  /** Starts jobs and timers, unless the gateway is stopping. Until then messages are accepted but not sent. */
  work(): void
  /** Waits up to `drainMs` (7 s by default) for running work, then closes everything within 1.5 s. */
  stop(drainMs?: number): Promise<void>
}

const DRAIN_MS = 7000
const CLOSE_MS = 1500

/** Opens everything, in order: lock, database, provider, recovery, listener. Errors: `StartError`. */
export async function runGateway(options: RunOptions): Promise<RunningGateway> {
  const stack = new AsyncDisposableStack()
  try {
    return await start(options, stack)
  } catch (error) {
    await stack.disposeAsync().catch(() => undefined)
    throw await asStartError(error, options.config)
  }
}

async function start(options: RunOptions, stack: AsyncDisposableStack): Promise<RunningGateway> {
  const { adminPort, database } = options.config
  // If DATABASE_URL is misspelled beside a running server, the start cannot listen, and must leave no new database or key behind.
  if (options.lease === undefined && database.path !== null && isNew(database.path))
    await refuseTakenPort(options.config)
  const admin = adminPort === null ? null : await loadAdmin()
  const meter = admin === null ? {} : { meter: admin.metrics.meter }
  const gateway = await openGateway({ ...options, ...meter }, stack)
  if (gateway.database.migrated.length > 0)
    gateway.log.info({ migrations: gateway.database.migrated.join(', ') }, 'database is up to date')
  await noteStart(gateway, options)
  registerJobs(gateway)
  await refuseOtherKeys(gateway)
  const refused = await describeRefused(gateway)
  if (refused !== null) gateway.log.warn({}, refused)
  await recover(gateway)
  await options.prepare?.(gateway)
  const { createHttpServer } = await import('./app.ts')
  const app = createHttpServer(gateway)
  await options.beforeListening?.()
  stack.defer(startListening(gateway, app))
  // The tokens stop after the listener, so that a refresh that hangs does not delay the last responses.
  stack.defer(() => gateway.tokens.stop())
  stack.defer(() => stopListening(app))
  const adminListener = admin?.listen(gateway, adminPort ?? 0) ?? null
  if (adminListener !== null) stack.defer(() => adminListener.stop())
  const { port } = gateway.config
  let timers: Timers | null = null
  return {
    gateway,
    url: `http://${urlHost(gateway.config.host)}:${port}`,
    adminUrl: adminListener?.url ?? null,
    work: () => {
      // A signal may have arrived already.
      if (gateway.lifecycle.draining) return
      gateway.jobs.start()
      gateway.sending.start()
      timers = startTimers(gateway)
      gateway.lifecycle.working = true
    },
    stop: (drainMs = DRAIN_MS) => drain(gateway, stack, drainMs, () => timers?.stop()),
  }
}

/** Whether no gateway has used the database yet. A lost one is refused elsewhere. */
const isNew = (path: string): boolean => !existsSync(path) && !existsSync(`${path}.mark`)

async function noteStart({ database, clock, log }: Gateway, { replica, lease }: RunOptions): Promise<void> {
  const terms = { isReplicated: replica !== undefined, epoch: lease?.epoch ?? null, now: clock.now() }
  if (await noteDurability(database, terms))
    log.warn(
      {},
      'another gateway may have sent messages that wait here: each waiting message is looked up at the provider before it is sent',
    )
}

/**
 * Errors: `StartError` if no stored secret can be decrypted, or if the key beside the database would decrypt some. A start that continues with
 * some of them logs which.
 */
async function refuseOtherKeys({ lostKeys, config, log }: Gateway): Promise<void> {
  const lost = await lostKeys.check()
  if (lost === null) return
  const kept = config.encryptionKeys === null || config.allowNewKeys ? null : keptKey(config)
  const owners = kept === null ? [] : await lostKeys.recoverableWith(createSecrets([kept]))
  if (owners.length > 0) throw new StartError(EXIT.badConfig, describeUnnamed(encryptionKeyPath(config), owners))
  if (lost.isEvery && !config.allowNewKeys) throw new StartError(EXIT.badConfig, textOf(saidOfLost(lost)))
  log.error({}, textOf(saidOfLost(lost)))
}

/** Loads the metrics library only if ADMIN_PORT is set. */
async function loadAdmin() {
  const [{ createMetrics }, { startAdmin }] = await Promise.all([
    import('../operator/metrics/metrics.ts'),
    import('../operator/metrics/listener.ts'),
  ])
  const metrics = createMetrics()
  return { metrics, listen: (gateway: Gateway, port: number) => startAdmin(gateway, metrics, port) }
}

/** Takes no new work, waits for running work, then closes everything in reverse order. */
async function drain(
  gateway: Gateway,
  stack: AsyncDisposableStack,
  drainMs: number,
  stopTimers: () => Promise<void> | undefined,
): Promise<void> {
  gateway.lifecycle.draining = true
  gateway.sockets.closeAll(gateway.lease !== null)
  // One that rejects because the database cannot be read must not prevent the others from closing.
  const idle = Promise.allSettled([
    gateway.sending.stop(),
    gateway.jobs.stop(),
    stopTimers(),
    gateway.receipts.stop(),
    gateway.subscriptions.stop(),
    gateway.threadSubscriptions.stop(),
    gateway.consentSubscriptions.stop(),
    gateway.replacedSessions.endAll(),
  ])
  await atMost(drainMs, idle)
  gateway.poster.endAll()
  await atMost(CLOSE_MS, stack.disposeAsync())
}
