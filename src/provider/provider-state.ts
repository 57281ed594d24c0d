import type { Clock } from '../core/clock.ts'
import { type ProviderFailure, type ProviderResult, isForeign } from './provider.ts'

/** Whether the provider answers, and whether it accepts this gateway's client, according to its latest answers. */
export class ProviderState {
  /** Monotonic time of the first call after its last answer that it did not answer, or that something in between answered; null if it answers. */
  silentSince: number | null = null
  /** The code of the latest unanswered call; null if there is none. */
  silenceCode: string | null = null
  /** The refusal of RC_CLIENT_ID and RC_CLIENT_SECRET; null if they were accepted or never presented. */
  clientRefusal: ProviderFailure | null = null
  /** Whether the client was ever accepted or refused. */
  isClientKnown = false

  constructor(readonly clock: Pick<Clock, 'monotonic'>) {}

  /** Call with the result of each call. */
  note(result: ProviderResult<unknown>): void {
    const isSilent = !result.ok && isSilence(result.failure)
    this.silenceCode = isSilent && !result.ok ? result.failure.code : null
    this.silentSince = isSilent ? (this.silentSince ?? this.clock.monotonic()) : null
  }

  /** Call with the result of each call that presents the client's credentials. Any other OAuth error means that they were accepted. */
  noteClient(result: ProviderResult<unknown>): void {
    if (!result.ok && result.failure.oauthError === null) return
    this.isClientKnown = true
    this.clientRefusal = !result.ok && result.failure.oauthError === 'invalid_client' ? result.failure : null
  }

  get isInTrouble(): boolean {
    return this.silentSince !== null || this.clientRefusal !== null
  }
}

/** An answer from a proxy or firewall does not show that the provider is reachable. A 429 counts in any form. */
const isSilence = (failure: ProviderFailure): boolean =>
  failure.status === null || (isForeign(failure) && failure.reason !== 'rate_limited')
