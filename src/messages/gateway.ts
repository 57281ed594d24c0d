import type { SubscriptionTokens } from '../auth/subscription-tokens.ts'
import { LostKeys } from '../auth/lost-keys.ts'
import { KeyRing } from '../auth/key-ring.ts'
import { FailedAttempts } from '../auth/failed-attempts.ts'
import { KeyLimits } from '../auth/key-limits.ts'
import { OperatorSessions } from '../auth/operator-sessions.ts'
import { Limiter } from '../core/limiter.ts'
import { MAX_ATTACHMENTS_IN_FLIGHT, MAX_ATTACHMENTS_PER_TENANT, OPERATOR_LIMIT_PER_MINUTE } from '../core/limits.ts'
import type { Lease } from '../core/lease.ts'
import { type Meter, noMeter } from '../core/meter.ts'
import { createSecrets, type Secrets } from '../core/secrets.ts'
import { type FiringAlerts, noAlerts } from '../core/firing-alert.ts'
import { type RestoreMark, createNoMark } from '../db/mark-file.ts'
import { Jobs } from './jobs/jobs.ts'
import { AddressGuard, guardRules } from '../net/outbound/address-guard.ts'
import { WebhookPoster } from '../net/outbound/webhook-poster.ts'
import type { ClockCheck } from '../provider/clock-check.ts'
import type { ConfiguredJwt } from '../provider/configured-jwt.ts'
import type { Directory } from '../provider/directory.ts'
import { type ExtensionContext, extensionParts } from './extension-parts.ts'
import type { ExtensionKey } from '../provider/extension-rows.ts'
import type { InboundSubscriptions } from '../provider/inbound-subscriptions.ts'
import type { SimulatorAccess } from '../core/simulator-access.ts'
import type { MessageListings } from '../provider/message-listings.ts'
import type { Numbers } from '../provider/numbers.ts'
import { observed } from '../provider/observed.ts'
import { ProviderState } from '../provider/provider-state.ts'
import type { ReplacedSessions } from '../provider/replaced-sessions.ts'
import type { Quota } from '../provider/quota.ts'
import type { ExtensionCalls } from '../provider/extension-calls.ts'
import type { Tokens } from '../provider/tokens.ts'
import type { AccountConsents } from './opt-outs/account-consents.ts'
import { MediaStore } from './media/media-store.ts'
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
  /** The same for message threads, so that a refusal of their events affects no others. Only extensions with threads have them. */
  threadSubscriptions: InboundSubscriptions
  /** The same for consents. Only one extension per account has them. */
  consentSubscriptions: InboundSubscriptions
  consents: AccountConsents
  /** Called when an event has reported news in an extension's threads. */
  threads: { changed: (key: ExtensionKey) => void }
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
  /** Limits attachments that are read from the provider. */
  downloads: Limiter
  media: MediaStore
  sockets: Sockets
  cursors: Cursors
  /** The lease that this gateway holds; null without `STANDBY`. */
  lease: Lease | null
  /** `working`: jobs and timers are running. `draining`: the server is stopping. */
  lifecycle: { draining: boolean; working: boolean }
  alerts: FiringAlerts
  /** What has happened to RC_JWT since the start. */
  configuredJwt: ConfiguredJwt
  /** The built-in simulator, once it has started; null if the provider is another one, or no server runs. */
  simulator: SimulatorAccess | null
  traffic: Traffic
  sending: SendEngine
  receipts: ReceiptTracking
  webhookWaker: WebhookWaker
}

interface SharedParts extends Omit<ExtensionContext, 'secrets'> {
  /** The id of this process. An open attempt with another `bootId` has an unknown outcome. */
  bootId: string
}

/** The parts from which a gateway is built. */
export interface GatewayParts extends SharedParts {
  /** 32 bytes each, newest first. */
  encryptionKeys: readonly Uint8Array[]
  /** Counts calls and webhook POSTs; absent without metrics. */
  meter?: Meter
  /** While it is not held, this gateway makes no calls. Absent if there is no other gateway. */
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

/** The requests that are being handled now. */
export interface Traffic {
  /** Requests whose body has arrived and that are not answered yet. Requests that wait for the provider, or for their turn to read, are not counted. */
  answering: number
}

export function buildGateway(given: GatewayParts): Gateway {
  const { secrets = createSecrets(given.encryptionKeys), defer = setImmediate } = given
  const parts = { ...withObservedProvider(given), secrets, defer }
  const { config, clock, ids, log, database, provider, providerState, bootId, lease = null, meter = noMeter } = parts
  const authenticate =
    parts.authenticateSocket ?? (() => Promise.resolve({ ok: false, error: 'Invalid API key' } as const))
  const engines = {
    ...eventParts(parts),
    ...extensionParts(parts, (tenantId) => gateway.sending.wake(tenantId)),
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
    ...accessParts(parts),
    secrets,
    ...transferParts(parts),
    media: new MediaStore(parts),
    sockets: new Sockets({
      ...parts,
      ...engines,
      authenticate: (message, address) => authenticate(gateway, message, address),
    }),
    lease,
    lifecycle: { draining: false, working: false },
    alerts: noAlerts(clock.monotonic()),
    simulator: null,
    traffic: { answering: 0 },
    sending: new SendEngine({ ...parts, ...engines, receipts, requests: () => gateway.traffic.answering }),
    receipts,
  }
  return gateway
}

type MadeParts = GatewayParts & Required<Pick<GatewayParts, 'secrets' | 'defer'>>

/** The parts that append to the event log, read it, and wake its readers. */
function eventParts({ database, clock, log, defer, encryptionKeys, restoreMark = createNoMark() }: MadeParts) {
  const { gate, writer, storedEvents, reader } = database
  const cursors = new Cursors(encryptionKeys)
  const hub = new Hub({ database, clock, log, defer })
  const jobs = new Jobs({ gate, writer, clock, log, defer })
  return {
    restoreMark,
    cursors,
    hub,
    events: new EventLog({ gate, storedEvents, reader, cursors }),
    jobs,
    webhookWaker: new WebhookWaker({
      gate,
      hub,
      wake: (appId, tenantId) => jobs.wake('webhook', appId, tenantId, 0),
    }),
  }
}

/** The parts that decide who may call, and how often. */
function accessParts({ config, clock, ids, log, database: { orm, gate }, secrets }: MadeParts) {
  const lostKeys = new LostKeys({ gate, secrets })
  return {
    keys: new KeyRing({ orm, secrets, clock }),
    lostKeys,
    failedAttempts: new FailedAttempts({ orm, clock, log, isCounting: () => lostKeys.lost === null }),
    keyLimits: new KeyLimits(clock, config.keyLimitPerMinute),
    operatorSessions: new OperatorSessions({ orm, secrets, clock, ids }),
    operatorLimits: new KeyLimits(clock, OPERATOR_LIMIT_PER_MINUTE),
  }
}

/** The parts that post to other people's addresses, and that read attachments. */
function transferParts({ config, clock, meter = noMeter, lease }: MadeParts) {
  const guard = new AddressGuard(guardRules(config))
  return {
    guard,
    poster: new WebhookPoster({ guard, clock, meter, lease: lease ?? null }),
    downloads: new Limiter({ total: MAX_ATTACHMENTS_IN_FLIGHT, perTenant: MAX_ATTACHMENTS_PER_TENANT }),
  }
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
