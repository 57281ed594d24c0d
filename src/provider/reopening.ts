import type { Clock } from '../core/clock.ts'
import type { SocketRecovery } from './event-socket.ts'
import type { CallResult } from './extension-calls.ts'
import type { Ensured } from './inbound-subscriptions.ts'
import type { ProviderFailure } from './provider.ts'
import { type Wait, waitFailure } from './subscription-life.ts'

const FIRST_MS = 1000
const STEP_MS = 10_000
const MAX_MS = 120_000
/** A socket that ends sooner counts as a failure: a socket that dies immediately must not be reopened each second. */
const SOUND_MS = 30_000

/** The result of an attempt to open a socket. */
export interface Outcome {
  ensured: Ensured
  /** Milliseconds until the next attempt; null if none is to be planned. */
  nextMs: number | null
}

/** When to reopen a socket: after 1, 10, 20, 40, 80, 120 s; and where it continues. */
export class Reopening {
  readonly #failed = new Map<string, { failures: number; failure: ProviderFailure | null }>()
  readonly #recoveries = new Map<string, { recovery: SocketRecovery; until: number }>()

  constructor(readonly clock: Pick<Clock, 'monotonic'>) {}

  /** Records an attempt that opened no socket. */
  outcome(name: string, result: Exclude<CallResult<never>, { type: 'ok' }>): Outcome {
    if (result.type === 'gone') return { ensured: 'failed', nextMs: null }
    if (result.type === 'failed') return { ensured: 'failed', nextMs: this.delayMs(name, result.failure) }
    return { ensured: 'waiting', nextMs: this.#waitMs(name, result) }
  }

  /** Records a socket that could not be opened, or has ended; returns how long to wait. */
  delayMs(name: string, failure: ProviderFailure | null): number {
    const failures = (this.#failed.get(name)?.failures ?? 0) + 1
    this.#failed.set(name, { failures, failure })
    return failures === 1 ? FIRST_MS : Math.min(STEP_MS * 2 ** (failures - 2), MAX_MS)
  }

  /** Records why a socket waits, which is not a failure; returns how long. */
  #waitMs(name: string, wait: Wait): number {
    const failure = waitFailure(wait)
    this.#failed.set(name, { failures: this.#failed.get(name)?.failures ?? 0, failure })
    return failure.retryAfterMs
  }

  /** The provider's refusal of the last attempt, or why it waits; null if there was none. */
  failure(name: string): ProviderFailure | null {
    return this.#failed.get(name)?.failure ?? null
  }

  /** Call it when a socket is open. Earlier ends still count. */
  opened(name: string): void {
    this.#recoveries.delete(name)
    const failed = this.#failed.get(name)
    if (failed !== undefined) failed.failure = null
  }

  /** Call it before `delayMs` when a socket has ended. */
  ended(name: string, livedMs: number, recovery: SocketRecovery | null): void {
    if (livedMs >= SOUND_MS) this.#failed.delete(name)
    if (recovery !== null) this.#recoveries.set(name, { recovery, until: this.clock.monotonic() + recovery.forMs })
  }

  /** The last socket's recovery data, while the provider keeps it. */
  recovery(name: string): SocketRecovery | null {
    const kept = this.#recoveries.get(name)
    return kept !== undefined && this.clock.monotonic() < kept.until ? kept.recovery : null
  }

  forget(name: string): void {
    this.#failed.delete(name)
    this.#recoveries.delete(name)
  }
}
