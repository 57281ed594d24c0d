import { SubscriptionTokens } from './auth/subscription-tokens.ts'
import { KeyRing } from './auth/key-ring.ts'
import { FailedAttempts } from './auth/failed-attempts.ts'
import { KeyLimits } from './auth/key-limits.ts'
import type { Clock } from './core/clock.ts'
import type { Config } from './core/config.ts'
import type { Ids } from './core/ids.ts'
import {
  CALLS_BESIDE_SENDS,
  CROWD_OF_REQUESTS,
  MAX_SENDS_IN_FLIGHT,
  MAX_UNQUEUED_SENDS,
  SLOW_SEND_AMONG_SLOW_MS,
  SLOW_SEND_IN_CROWD_MS,
  SLOW_SEND_MS,
} from './core/limits.ts'
import type { Log } from './core/log.ts'
import { type Meter, noMeter } from './core/meter.ts'
import { createSecrets, type Secrets } from './core/secrets.ts'
import type { Database } from './db/database.ts'
import { type RestoreMark, createNoMark } from './db/restore-mark.ts'
import { Jobs } from './jobs/jobs.ts'
import { type PlaceBounds, Places } from './jobs/places.ts'
import { AddressGuard } from './outbound/address-guard.ts'
import { WebhookPoster } from './outbound/post-json.ts'
import { Directory } from './provider/directory.ts'
import { Numbers } from './provider/numbers.ts'
import type { Provider } from './provider/provider.ts'
import { Quota } from './provider/quota.ts'
import { Session } from './provider/session.ts'
import { Subscriptions } from './provider/subscriptions.ts'
import { Tokens } from './provider/tokens.ts'
import { createHub, type Hub } from './realtime/hub.ts'
import { type SocketAuth, Sockets } from './realtime/sockets.ts'

/** What everything in the gateway depends on, built in one place and handed in. */
export interface Gateway extends GatewayParts {
  mark: RestoreMark
  secrets: Secrets
  hub: Hub
  jobs: Jobs
  directory: Directory
  tokens: Tokens
  quota: Quota
  sendPlaces: Places
  session: Session
  numbers: Numbers
  subscriptions: Subscriptions
  subscriptionTokens: SubscriptionTokens
  keys: KeyRing
  failedAttempts: FailedAttempts
  keyLimits: KeyLimits
  guard: AddressGuard
  poster: WebhookPoster
  sockets: Sockets
  /** `working`: jobs and timers run. */
  lifecycle: { draining: boolean; working: boolean }
  traffic: Traffic
  firstAttempts: {
    /** Ids of those that have no row of their own and that this process is about to begin, or runs. */
    running: Set<string>
    /** Apps' idempotency keys whose first request is being committed. */
    keys: Set<string>
  }
}

export interface GatewayParts {
  config: Config
  /** 32 bytes each, newest first. */
  encryptionKeys: readonly Uint8Array[]
  clock: Clock
  ids: Ids
  log: Log
  database: Database
  provider: Provider
  /** Who counts; nobody unless given. */
  meter?: Meter
  /** Names this run of the process: attempts of another boot have an unknown outcome. */
  bootId: string
  /** How far this database has come, kept beside it; absent where no restore can happen. */
  mark?: RestoreMark
  /** In place of those of `encryptionKeys`, for the simulation: real ones work on threads, which come back in no fixed order. */
  secrets?: Secrets
  /** Lets the event loop breathe; the simulation hands in its own. */
  defer?: (run: () => void) => void
  /** Who a socket's first message speaks for. */
  authenticateSocket?(gateway: Gateway, message: Record<string, unknown>, address: string): Promise<SocketAuth>
}

/** What requests there are at this moment. */
export interface Traffic {
  /** Those that have come whole and are not answered yet; but for those that wait for the provider. */
  answering: number
}

/** Places for sends: as many calls as may be under way at once, but for some that tokens and looks need. */
export function sendPlaces(callsAtOnce: number, traffic: Traffic): PlaceBounds {
  const slow = callsAtOnce - MAX_SENDS_IN_FLIGHT - CALLS_BESIDE_SENDS
  return {
    quick: MAX_SENDS_IN_FLIGHT,
    slow,
    slowAfterMs: (others) => {
      if (traffic.answering >= CROWD_OF_REQUESTS) return SLOW_SEND_IN_CROWD_MS
      return others < MAX_SENDS_IN_FLIGHT ? SLOW_SEND_MS : SLOW_SEND_AMONG_SLOW_MS
    },
    // If all of them hang they become slow together, and must leave places to others.
    unqueued: Math.min(MAX_UNQUEUED_SENDS, Math.floor(slow / 2)),
  }
}

export function buildGateway(parts: GatewayParts): Gateway {
  const { config, clock, log, database, provider } = parts
  const { writer, gate, reads } = database
  const authenticate =
    parts.authenticateSocket ?? (() => Promise.resolve({ ok: false, error: 'Invalid API key' } as const))
  const secrets = parts.secrets ?? createSecrets(parts.encryptionKeys)
  const directory = new Directory(reads)
  const jobs = new Jobs({ gate, writer, clock, log, defer: parts.defer ?? setImmediate })
  const quota = new Quota(clock, {
    fromPerMinute: config.fromLimitPerMinute,
    extensionPerMinute: config.extensionLimitPerMinute,
  })
  const changed = (): void => jobs.release('send')
  const tokens = new Tokens({ provider, directory, writer, secrets, clock, log, changed })
  const session = new Session(tokens, quota, writer, clock)
  const numbers = new Numbers({ directory, session, provider, writer, clock })
  // The built-in simulator calls from this process, where the public address may lead nowhere.
  const webhookBase = (): string => (config.provider.simulated ? `http://127.0.0.1:${config.port}` : config.publicUrl)
  const subscriptionTokens = new SubscriptionTokens({ gate, secrets })
  const subscriptions = new Subscriptions({
    provider,
    session,
    quota,
    gate,
    writer,
    secrets,
    ids: parts.ids,
    clock,
    log,
    address: () => `${webhookBase()}/v1/webhooks/provider`,
    changed: () => subscriptionTokens.forget(),
  })
  const guard = new AddressGuard({ production: config.production, allowCidrs: config.webhookAllowCidrs })
  const hub = createHub()
  const traffic: Traffic = { answering: 0 }
  const gateway: Gateway = {
    ...parts,
    mark: parts.mark ?? createNoMark(),
    secrets,
    hub,
    jobs,
    directory,
    tokens,
    quota,
    sendPlaces: new Places(clock, sendPlaces(config.callsAtOnce, traffic), () => jobs.freed('send')),
    session,
    numbers,
    subscriptions,
    subscriptionTokens,
    keys: new KeyRing({ reads, writer, secrets, clock }),
    failedAttempts: new FailedAttempts({ gate, writer, clock }),
    keyLimits: new KeyLimits(clock, config.keyLimitPerMinute),
    guard,
    poster: new WebhookPoster({ guard, clock, meter: parts.meter ?? noMeter }),
    sockets: new Sockets({ clock, hub, authenticate: (message, address) => authenticate(gateway, message, address) }),
    lifecycle: { draining: false, working: false },
    traffic,
    firstAttempts: { running: new Set(), keys: new Set() },
  }
  return gateway
}
