import type { ExtensionRow } from './directory.ts'
import type { ExtensionKey } from './extension-rows.ts'
import type { InboundEvent, ProviderFailure } from './provider.ts'

/**
 * `kept`: a live one existed. `created`: there was none for a while, so events may have been missed. `waiting`: nothing was done because of a
 * pause or a token refresh.
 */
export type Ensured = 'kept' | 'created' | 'waiting' | 'failed'

/** How the provider's events reach this gateway: exactly one live subscription per extension, by webhook or by socket. */
export interface InboundSubscriptions {
  /**
   * Called after each run with the time until the next one: a retry after a failure, or the renewal. `isActive`: the provider
   * has a live subscription.
   */
  planned: (key: ExtensionKey, nextMs: number, isActive: boolean) => void
  /** Stores the message of an event from a socket, and resolves when it is on disk. */
  receive: (key: ExtensionKey, event: InboundEvent) => Promise<unknown>
  /** What the provider needs to deliver events, as a clause, and what the gateway does without help. */
  readonly advice: SubscriptionAdvice
  /** Call it at the start, before all other methods: it records what ended with an earlier process, for every topic. */
  recover(): Promise<void>
  /** Makes sure that the extension has exactly one. Concurrent calls for an extension share one run. */
  ensure(key: ExtensionKey): Promise<Ensured>
  /** The provider's refusal in the last run of this extension, or why that run waits; null if there was none. */
  refusal(key: ExtensionKey): ProviderFailure | null
  /** Ends the extension's subscriptions. Keeps any for which the provider does not answer. */
  remove(key: ExtensionKey): Promise<void>
  /** Call when a back-fill has found messages without events. */
  overlooked(key: ExtensionKey): void
  /** Call when the extension has tokens of a new session: a subscription may end with the session that created it. */
  sessionChanged(key: ExtensionKey): void
  /** Whether events still arrive through a session that a newer authorization has replaced; `row`: the extension's current row. */
  usesReplacedSession(row: ExtensionRow): boolean
  /** Ends what only this process has. Resolves when the events that have arrived are stored. */
  stop(): Promise<void>
}

export interface SubscriptionAdvice {
  needs: string
  byItself: string
}
