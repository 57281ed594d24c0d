import { SubscriptionTokens } from './auth/subscription-tokens.ts'
import { KeyRing } from './auth/key-ring.ts'
import { FailedAttempts } from './auth/failed-attempts.ts'
import { KeyLimits } from './auth/key-limits.ts'
import type { Clock } from './core/clock.ts'
import type { Config } from './core/config.ts'
import type { Ids } from './core/ids.ts'
import type { Log } from './core/log.ts'
import { type Meter, noMeter } from './core/meter.ts'
import { createSecrets, type Secrets } from './core/secrets.ts'
import type { Database } from './db/database.ts'
import { type RestoreMark, createNoMark } from './db/restore-mark.ts'
import { Jobs } from './jobs/jobs.ts'
import { AddressGuard } from './outbound/address-guard.ts'
import { WebhookPoster } from './outbound/post-json.ts'
import { Directory } from './provider/directory.ts'
import { Numbers } from './provider/numbers.ts'
import type { Provider } from './provider/provider.ts'
import { Quota } from './provider/quota.ts'
import { Session } from './provider/session.ts'
import { Subscriptions } from './provider/subscriptions.ts'
import { Tokens } from './provider/tokens.ts'
import { EventLog } from './realtime/event-log.ts'
import { EventWebhooks } from './realtime/event-webhooks.ts'
import { createHub, type Hub } from './realtime/hub.ts'
import { type SocketAuth, Sockets } from './realtime/sockets.ts'
import { SendEngine } from './sending/engine.ts'

/** What everything in the gateway depends on, built in one place and handed in. */
export interface Gateway extends SharedParts {
  mark: RestoreMark
  secrets: Secrets
  hub: Hub
  events: EventLog
  jobs: Jobs
  directory: Directory
  tokens: Tokens
  quota: Quota
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
  sending: SendEngine
  eventWebhooks: EventWebhooks
}

interface SharedParts {
  config: Config
  clock: Clock
  ids: Ids
  log: Log
  database: Database
  provider: Provider
  /** Names this run of the process: attempts of another boot have an unknown outcome. */
  bootId: string
}

/** What a gateway is built from. */
export interface GatewayParts extends SharedParts {
  /** 32 bytes each, newest first. */
  encryptionKeys: readonly Uint8Array[]
  /** Counts calls and posts; absent where nobody reads metrics. */
  meter?: Meter
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

export function buildGateway(parts: GatewayParts): Gateway {
  const { config, clock, ids, log, database, provider, bootId } = parts
  const { writer, gate, reads } = database
  const authenticate =
    parts.authenticateSocket ?? (() => Promise.resolve({ ok: false, error: 'Invalid API key' } as const))
  const secrets = parts.secrets ?? createSecrets(parts.encryptionKeys)
  const defer = parts.defer ?? setImmediate
  const connected = connectedParts({ ...parts, secrets }, (tenantId) => gateway.sending.wake(tenantId))
  const guard = new AddressGuard({ production: config.production, allowCidrs: config.webhookAllowCidrs })
  const engines = {
    mark: parts.mark ?? createNoMark(),
    hub: createHub(),
    events: new EventLog({ gate, defer }),
    jobs: new Jobs({ gate, writer, clock, log, defer }),
    ...connected,
  }
  const gateway: Gateway = {
    ...{ config, clock, ids, log, database, provider, bootId },
    ...engines,
    secrets,
    keys: new KeyRing({ reads, writer, secrets, clock }),
    failedAttempts: new FailedAttempts({ gate, writer, clock }),
    keyLimits: new KeyLimits(clock, config.keyLimitPerMinute),
    guard,
    poster: new WebhookPoster({ guard, clock, meter: parts.meter ?? noMeter }),
    sockets: new Sockets({
      clock,
      log,
      hub: engines.hub,
      events: engines.events,
      authenticate: (message, address) => authenticate(gateway, message, address),
    }),
    lifecycle: { draining: false, working: false },
    traffic: { answering: 0 },
    sending: new SendEngine({ ...parts, ...engines, defer, requests: () => gateway.traffic.answering }),
    eventWebhooks: new EventWebhooks({
      gate,
      hub: engines.hub,
      wake: (appId, tenantId) => engines.jobs.scheduled('webhook', appId, tenantId, 0),
    }),
  }
  return gateway
}

type ConnectedParts = Pick<
  Gateway,
  'directory' | 'quota' | 'tokens' | 'session' | 'numbers' | 'subscriptions' | 'subscriptionTokens'
>

/** What knows the tenants' connected extensions. `changed`: something that a tenant's messages may wait for. */
function connectedParts(
  parts: GatewayParts & { secrets: Secrets },
  changed: (tenantId: string) => void,
): ConnectedParts {
  const { config, clock, log, database, provider, secrets, ids } = parts
  const { writer, gate, reads } = database
  const directory = new Directory(reads)
  const quota = new Quota(clock, {
    fromPerMinute: config.fromLimitPerMinute,
    extensionPerMinute: config.extensionLimitPerMinute,
  })
  const needed = { provider, directory, gate, writer, secrets, ids, clock, log }
  const tokens = new Tokens({ ...needed, changed: ({ tenantId }) => changed(tenantId) })
  const session = new Session(tokens, quota, writer, clock)
  // The built-in simulator calls from this process, where the public address may lead nowhere.
  const webhookBase = (): string => (config.provider.simulated ? `http://127.0.0.1:${config.port}` : config.publicUrl)
  const subscriptionTokens = new SubscriptionTokens({ gate, secrets })
  const subscriptions = new Subscriptions({
    ...needed,
    session,
    quota,
    address: () => `${webhookBase()}/v1/webhooks/provider`,
    changed: () => subscriptionTokens.forget(),
  })
  const numbers = new Numbers({ directory, session, provider, writer, clock })
  return { directory, quota, tokens, session, numbers, subscriptions, subscriptionTokens }
}
