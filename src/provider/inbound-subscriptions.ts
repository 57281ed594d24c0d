import type { ExtensionRow } from './directory.ts'
import type { ExtensionKey } from './extension-rows.ts'
import type { InboundEvent, ProviderFailure } from './provider.ts'

/**
 * `kept`: there was a live one. `created`: there was none for a while, so events may have been missed. `waiting`: nothing was
 * done because of a pause or a token refresh.
 */
export type Ensured = 'kept' | 'created' | 'waiting' | 'failed'

/** How the provider's events reach this gateway: exactly one live subscription per extension, by webhook or by socket. */
export interface InboundSubscriptions {
  /**
   * Called after each run with the time until the next one: a retry after a failure, or the renewal. `isActive`: the provider
   * has a live subscription.
   */
  planned: (key: ExtensionKey, nextMs: number, isActive: boolean) => void
  /** Stores the message of an event that came over a socket, and resolves when it is on disk. */
  receive: (key: ExtensionKey, event: InboundEvent) => Promise<unknown>
  /** What the provider needs to deliver events, as a clause, and what the gateway does by itself. */
  readonly advice: SubscriptionAdvice
  /** Call it at the start, before any other: what has ended with an earlier process is noted, of every topic. */
  recover(): Promise<void>
  /** Makes sure that the extension has exactly one. Concurrent calls for an extension share one run. */
  ensure(key: ExtensionKey): Promise<Ensured>
  /** The provider's refusal in the last run of this extension, or why that run waits; null if there was none. */
  refusal(key: ExtensionKey): ProviderFailure | null
  /** Ends the extension's subscriptions. One for which the provider does not answer stays. */
  remove(key: ExtensionKey): Promise<void>
  /** Call when a back-fill has found messages of which no event has come. */
  overlooked(key: ExtensionKey): void
  /** Call when the extension has tokens of another session: a subscription may end with the session that made it. */
  sessionChanged(key: ExtensionKey): void
  /** Whether events still come by a session that another authorization has replaced; `row` is the extension as it is now. */
  usesReplacedSession(row: ExtensionRow): boolean
  /** Ends what only this process has. Resolves when the events that have come are stored. */
  stop(): Promise<void>
}

export interface SubscriptionAdvice {
  needs: string
  byItself: string
}
