import type { CallFilter, NextFault, RecordedCall, SituationWish } from '../core/simulator-access.ts'
import type { ListedNumber, NewExtension, NewJwt, NewNumber, NewQueue, SocketFault, StatusChange } from './arguments.ts'
import { extensionKnobs } from './control-extensions.ts'
import { messageKnobs } from './control-messages.ts'
import { sessionKnobs } from './control-sessions.ts'
import { socketKnobs } from './control-sockets.ts'
import { trafficKnobs } from './control-traffic.ts'
import type { ExtensionView, MessageView, SessionView, SocketView, SubscriptionView } from './control-views.ts'
import type { EventFault } from './event-faults.ts'
import type { FaultRule, RandomFaults } from './faults.ts'
import type { InboundSms, InjectedSms } from './inbound.ts'
import type { FinalOutcome } from './messages.ts'
import type { Limits } from './rate-limit.ts'
import type { Counters, LoggedRequest } from './request-log.ts'
import type { Settings } from './settings.ts'
import type { World } from './world.ts'

/**
 * The control API, in the process and over HTTP: `POST /control/<name>` with the argument as JSON body returns the result
 * as JSON. All ids are strings. A wrong argument throws (400 over HTTP).
 */
export interface SimulatorControl {
  /** Default id: the next free one. */
  addAccount(account?: { accountId?: string }): { accountId: string }
  /** Default account: the first one. A bare number gets the SMS features. */
  addExtension(extension?: NewExtension): ExtensionView
  /** A call queue. Its recipients list its numbers and may text from them; its messages are in its own store (`owner=Any`). */
  addQueue(queue: NewQueue): ExtensionView
  /** The same number may be listed by several extensions; at most one should have `SmsSender` on it, but of a queue's. */
  addNumber(number: NewNumber): ExtensionView
  removeNumber(number: ListedNumber): ExtensionView
  /** Any status but `Enabled` ends neither sessions nor subscriptions, but every call and refresh fails. */
  setExtensionStatus(change: StatusChange): ExtensionView
  extensions(): ExtensionView[]

  /**
   * Sets the extension that logs in at the next authorize request, with priority over `login_hint`. Several calls queue
   * up.
   */
  nextLogin(login: { extensionId: string }): void
  /** The next `calls` (default 1) authorize requests answer `access_denied`. */
  denyNextLogin(denial?: { calls?: number }): void
  /** Makes a JWT of the extension's user, as the developer console does. Default: for all apps and without an end. */
  addJwt(credential: NewJwt): { jwt: string }
  /** Deletes a JWT. The sessions that it has opened go on. */
  removeJwt(credential: { jwt: string }): { removed: number }
  sessions(filter?: { extensionId?: string }): SessionView[]
  /** Ends the sessions of an extension. Returns their number. */
  revokeTokens(owner: { extensionId: string }): { ended: number }
  /** Makes tokens expire now. Default `access`. */
  expireTokens(owner: { extensionId: string; which?: 'access' | 'refresh' | 'both' }): { expired: number }

  subscriptions(filter?: { extensionId?: string }): SubscriptionView[]
  blacklistSubscription(target: { subscriptionId: string; reason?: string }): void
  expireSubscription(target: { subscriptionId: string }): void
  deleteSubscription(target: { subscriptionId: string }): void

  /** The open sockets that bring events, oldest first. */
  sockets(filter?: { extensionId?: string }): SocketView[]
  /** Plays a fault on the open sockets and returns their number, or sets one for what comes next. `reset` ends those. */
  faultSockets(fault: SocketFault): { sockets: number }

  /** Stores an inbound SMS and sends its events. Resolves when the webhooks have answered; no socket answers. */
  injectSms(sms: InboundSms): Promise<InjectedSms>
  /** Sets the outcome of the next `calls` (default 1) accepted sends. */
  planNextSms(plan: FinalOutcome & { calls?: number }): void
  setMessageStatus(change: { messageId: string; messageStatus: string; deliveryErrorCode?: string }): void
  /** Oldest first. `limit` (default 1000) counts from the newest. */
  messages(filter?: { extensionId?: string; direction?: 'Inbound' | 'Outbound'; limit?: number }): MessageView[]

  /** Sets a fault for the next calls of one route or of all. Rules apply in the order in which they were made. */
  fault(rule: FaultRule): void
  /** Sets random faults, repeatable by the seed; null ends them. The rules of `fault` come first. */
  randomFaults(faults: RandomFaults | null): void
  clearFaults(): void
  /** Ends all faults, and forgets the outcomes that `planNextSms` has set for messages to come. */
  reset(): void
  faultEvents(fault: EventFault): void
  clearEventFaults(): void
  setLimits(limits: Partial<Limits>): Limits
  configure(settings: Partial<Settings>): Settings

  /** The last 10,000 requests, oldest first. `limit` counts from the newest. */
  requests(filter?: { route?: string; extensionId?: string; limit?: number }): LoggedRequest[]
  clearRequests(): void
  /** The last 500 calls from and to the client with their bodies, oldest first. Tokens are masked. `limit` counts from the newest. */
  calls(filter?: CallFilter): RecordedCall[]
  /** What `sgw simulate` asks for. */
  simulate(wish: SituationWish): void
  /** Sets the fault of the next send, before those of `fault`; null takes it back. */
  setNextFault(fault: NextFault | null): void
  nextFault(): NextFault | null
  counters(): Counters
  /** Resolves when no event delivery is running. */
  settled(): Promise<void>
}

export const createControl = (world: World): SimulatorControl => ({
  ...extensionKnobs(world),
  ...sessionKnobs(world),
  ...socketKnobs(world),
  ...messageKnobs(world),
  ...trafficKnobs(world),
})
