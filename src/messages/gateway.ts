import { SubscriptionTokens } from '../auth/subscription-tokens.ts'
import { LostKeys } from '../auth/lost-keys.ts'
import { KeyRing } from '../auth/key-ring.ts'
import { FailedAttempts } from '../auth/failed-attempts.ts'
import { KeyLimits } from '../auth/key-limits.ts'
import { OperatorSessions } from '../auth/operator-sessions.ts'
import type { Clock } from '../core/clock.ts'
import type { Config } from '../core/config.ts'
import type { Ids } from '../core/ids.ts'
import { Limiter } from '../core/limiter.ts'
import { MAX_ATTACHMENTS_IN_FLIGHT, MAX_ATTACHMENTS_PER_TENANT, OPERATOR_LIMIT_PER_MINUTE } from '../core/limits.ts'
import type { Lease } from '../core/lease.ts'
import type { Log } from '../core/log.ts'
import { type Meter, noMeter } from '../core/meter.ts'
import { localUrl } from '../core/network-config.ts'
import { createSecrets, type Secrets } from '../core/secrets.ts'
import type { Database } from '../db/database.ts'
import type { FiringAlerts } from '../core/firing-alert.ts'
import { type RestoreMark, createNoMark } from '../db/mark-file.ts'
import { Jobs } from './jobs/jobs.ts'
import { AddressGuard, guardRules } from '../net/outbound/address-guard.ts'
import { WebhookPoster } from '../net/outbound/webhook-poster.ts'
import { ClockCheck } from '../provider/clock-check.ts'
import { type ConfiguredJwt, untriedJwt } from '../provider/configured-jwt.ts'
import { Directory, type ExtensionRow } from '../provider/directory.ts'
import type { ExtensionKey } from '../provider/extension-rows.ts'
import type { InboundSubscriptions } from '../provider/inbound-subscriptions.ts'
import type { SimulatorAccess } from '../core/simulator-access.ts'
import { MessageListings } from '../provider/message-listings.ts'
import { Numbers } from '../provider/numbers.ts'
import { observed } from '../provider/observed.ts'
import type { Provider } from '../provider/provider.ts'
import { ProviderState } from '../provider/provider-state.ts'
import { ReplacedSessions } from '../provider/replaced-sessions.ts'
import { Quota } from '../provider/quota.ts'
import { ExtensionCalls } from '../provider/extension-calls.ts'
import { sendLimitOf } from '../provider/send-limit.ts'
import { SocketSubscriptions } from '../provider/socket-subscriptions.ts'
import { Subscriptions } from '../provider/subscriptions.ts'
import { Tokens } from '../provider/tokens.ts'
import { Cursors } from './realtime/cursor.ts'
import { EventLog } from './realtime/event-log.ts'
import { WebhookWaker } from './realtime/webhook-waker.ts'
import { Hub } from './realtime/hub.ts'
import type { SocketAuth } from './realtime/socket-holder.ts'
import { Sockets } from './realtime/sockets.ts'
import { SendEngine } from './sending/engine.ts'
import { ReceiptTracking } from './receipts/tracking.ts'

/** The shared dependencies of all parts, built once and passed as an argument. */
export interface Gateway extends SharedParts {
  restoreMark: RestoreMark
  secrets: Secrets
  hub: Hub
  events: EventLog
  jobs: Jobs
  directory: Directory
  tokens: Tokens
  quota: Quota
  providerState: ProviderState
  extensionCalls: ExtensionCalls
  messageListings: MessageListings
  numbers: Numbers
  subscriptions: InboundSubscriptions
  replacedSessions: ReplacedSessions
  subscriptionTokens: SubscriptionTokens
  keys: KeyRing
  lostKeys: LostKeys
  clockCheck: ClockCheck
  failedAttempts: FailedAttempts
  keyLimits: KeyLimits
  operatorSessions: OperatorSessions
  operatorLimits: KeyLimits
  guard: AddressGuard
  poster: WebhookPoster
  /** Of attachments that are read from the provider. */
  downloads: Limiter
  sockets: Sockets
  cursors: Cursors
  /** The lease that this gateway holds; null without `STANDBY`. */
  lease: Lease | null
  /** `working`: jobs and timers are running. `draining`: the server is stopping. */
  lifecycle: { draining: boolean; working: boolean }
  alerts: FiringAlerts
  /** What has become of RC_JWT since the start. */
  configuredJwt: ConfiguredJwt
  /** The built-in simulator, once it has started; null if the provider is another one, or no server runs. */
  simulator: SimulatorAccess | null
  traffic: Traffic
  sending: SendEngine
  receipts: ReceiptTracking
  webhookWaker: WebhookWaker
}

interface SharedParts {
  config: Config
  clock: Clock
  ids: Ids
  log: Log
  database: Database
  provider: Provider
  /** The id of this process. An open attempt with another `bootId` has an unknown outcome. */
  bootId: string
}

/** What a gateway is built from. */
export interface GatewayParts extends SharedParts {
  /** 32 bytes each, newest first. */
  encryptionKeys: readonly Uint8Array[]
  /** Counts calls and webhook POSTs; absent without metrics. */
  meter?: Meter
  /** Without it this gateway calls nobody. Absent where there is no other gateway. */
  lease?: Lease
  /** Detects that the database was restored from a backup; absent in tests without a file. */
  restoreMark?: RestoreMark
  /** Replaces encryption in the simulation: WebCrypto runs on threads, which finish in no fixed order. */
  secrets?: Secrets
  /** Runs a function in a later tick of the event loop; the simulation has its own. */
  defer?: (run: () => void) => void
  /** Authenticates a WebSocket by its first message. */
  authenticateSocket?(gateway: Gateway, message: Record<string, unknown>, address: string): Promise<SocketAuth>
}

/** The requests that are being handled at this moment. */
export interface Traffic {
  /** Requests whose body has arrived and that are not answered yet. Requests that wait for the provider, or for their turn to read, are not counted. */
  answering: number
}

export function buildGateway(given: GatewayParts): Gateway {
  const parts = withObservedProvider(given)
  const { config, clock, ids, log, database, provider, providerState, bootId, lease = null, meter = noMeter } = parts
  const { writer, gate, orm } = database
  const authenticate =
    parts.authenticateSocket ?? (() => Promise.resolve({ ok: false, error: 'Invalid API key' } as const))
  const { secrets = createSecrets(parts.encryptionKeys), defer = setImmediate } = parts
  const connected = extensionParts({ ...parts, secrets }, (tenantId) => gateway.sending.wake(tenantId))
  const guard = new AddressGuard(guardRules(config))
  const lostKeys = new LostKeys({ gate, secrets })
  const cursors = new Cursors(parts.encryptionKeys)
  const engines = {
    restoreMark: parts.restoreMark ?? createNoMark(),
    cursors,
    hub: new Hub({ database, clock, log, defer }),
    events: new EventLog({ gate, storedEvents: database.storedEvents, reader: database.reader, cursors }),
    jobs: new Jobs({ gate, writer, clock, log, defer }),
    ...connected,
  }
  const receipts = new ReceiptTracking({ ...parts, ...engines, meter })
  const gateway: Gateway = {
    config,
    clock,
    ids,
    log,
    database,
    provider,
    providerState,
    bootId,
    ...engines,
    secrets,
    keys: new KeyRing({ orm, secrets, clock }),
    lostKeys,
    failedAttempts: new FailedAttempts({ orm, clock, log, isCounting: () => lostKeys.lost === null }),
    keyLimits: new KeyLimits(clock, config.keyLimitPerMinute),
    operatorSessions: new OperatorSessions({ orm, secrets, clock, ids }),
    operatorLimits: new KeyLimits(clock, OPERATOR_LIMIT_PER_MINUTE),
    guard,
    poster: new WebhookPoster({ guard, clock, meter, lease }),
    downloads: new Limiter({ total: MAX_ATTACHMENTS_IN_FLIGHT, perTenant: MAX_ATTACHMENTS_PER_TENANT }),
    sockets: new Sockets({
      ...parts,
      ...engines,
      authenticate: (message, address) => authenticate(gateway, message, address),
    }),
    lease,
    lifecycle: { draining: false, working: false },
    alerts: { firing: [], knownSince: clock.monotonic(), check: () => Promise.resolve() },
    simulator: null,
    traffic: { answering: 0 },
    sending: new SendEngine({ ...parts, ...engines, receipts, defer, requests: () => gateway.traffic.answering }),
    receipts,
    webhookWaker: new WebhookWaker({
      gate,
      hub: engines.hub,
      wake: (appId, tenantId) => engines.jobs.wake('webhook', appId, tenantId, 0),
    }),
  }
  return gateway
}

function withObservedProvider(given: GatewayParts): GatewayParts & { providerState: ProviderState } {
  const { clock, meter = noMeter } = given
  const providerState = new ProviderState(clock)
  return {
    ...given,
    providerState,
    provider: observed(given.provider, { meter, clock, state: providerState, lease: given.lease ?? null }),
  }
}

/** The parts that deal with connected extensions. They call `changed` when something changed that a message may wait for. */
function extensionParts(parts: GatewayParts & { secrets: Secrets }, changed: (tenantId: string) => void) {
  const { config, clock, log, database, provider, secrets, ids } = parts
  const { orm } = database
  const directory = new Directory(orm)
  const quota = new Quota(clock, {
    fromPerMinute: config.fromLimitPerMinute,
    extensionPerMinute: () => sendLimitOf(config, provider).perMinute,
  })
  const shared = { provider, directory, orm, secrets, ids, clock, log }
  const tokens = new Tokens({
    ...shared,
    quota,
    untilStored: () => database.untilStored(),
    changed: ({ tenantId }) => changed(tenantId),
    sessionOpened: (key) => subscriptions.sessionChanged(key),
  })
  const extensionCalls = new ExtensionCalls(tokens, quota, orm, clock)
  const subscriptionTokens = new SubscriptionTokens({ orm, secrets })
  const subscribing = { ...shared, extensionCalls, quota, changed: () => subscriptionTokens.forget() }
  const connected = async ({ tenantId, extensionId }: ExtensionKey): Promise<ExtensionRow | null> =>
    directory.isDisconnecting(tenantId, extensionId) ? null : directory.extension(tenantId, extensionId)
  const subscriptions =
    config.provider.events === 'websocket'
      ? new SocketSubscriptions({ ...subscribing, connected })
      : new Subscriptions({ ...subscribing, ...webhookAddresses(config), connected })
  const numbers = new Numbers({ directory, extensionCalls, provider, orm, clock })
  return {
    clockCheck: new ClockCheck(clock, provider),
    configuredJwt: untriedJwt(config.provider),
    directory,
    quota,
    tokens,
    extensionCalls,
    messageListings: new MessageListings({ ...shared, extensionCalls }),
    numbers,
    subscriptions,
    replacedSessions: new ReplacedSessions({ ...shared, quota }),
    subscriptionTokens,
  }
}

/** The built-in simulator runs in this process and may not be able to reach the public address. The port may be chosen by the system when the gateway listens. */
function webhookAddresses(config: Config): { address: () => string; shownAddress: () => string } {
  const path = '/v1/webhooks/provider'
  const address = (): string => `${config.provider.simulated ? localUrl(config) : config.publicUrl}${path}`
  return { address, shownAddress: () => `${config.publicUrl}${path}` }
}
