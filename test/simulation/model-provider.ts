import type { OutboundSms } from '../../src/provider/outbound-sms.ts'
import type { TokenPair } from '../../src/provider/grants.ts'
import type {
  FailureReason,
  MessageQuery,
  ProviderFailure,
  ProviderResult,
  StoredSms,
} from '../../src/provider/provider.ts'
import type { QuotaGroup } from '../../src/provider/quota.ts'
import { QUEUE_ID, written } from './queue-numbers.ts'
import type { Random } from './random.ts'
import type { Timeline } from './timeline.ts'

/** One accepted SMS, and the attempt that sent it. */
export interface ProviderRecord extends StoredSms {
  extensionId: string
  attempt: AttemptRef
}

export interface AttemptRef {
  attemptId: string
  messageId: string
}

interface ModelSession {
  extensionId: string
  accessToken: string
  accessExpiresAt: number
  refreshToken: string
  /** Valid until the new access token has been used. */
  previousRefreshToken: string | null
}

const ACCESS_SECONDS = 3600
const REFRESH_SECONDS = 604_800

/** Models the provider by its documentation: a message store, limits with penalties, and rotating tokens. */
export class ModelProvider {
  readonly records: ProviderRecord[] = []
  readonly sessions: ModelSession[] = []
  /** Called with each violation. */
  violated: (text: string) => void = () => {}
  /** Called with each accepted message. */
  accepted: (messageId: string) => void = () => {}
  stormUntil = 0
  storeDownUntil = 0
  refreshDownUntil = 0
  readonly #penalties = new Map<string, number>()
  #drawn = 0
  #revoked = false
  /** The end of the last penalty. */
  silentUntil = 0

  constructor(
    readonly timeline: Timeline,
    readonly random: Random,
    readonly numbers: ReadonlyMap<string, readonly string[]>,
    readonly queueNumbers: readonly string[],
  ) {}

  /** Issues the first token pair, as after an authorization. */
  connect(extensionId: string): TokenPair {
    const session: ModelSession = {
      extensionId,
      accessToken: '',
      accessExpiresAt: 0,
      refreshToken: '',
      previousRefreshToken: null,
    }
    this.sessions.push(session)
    return this.#rotate(session)
  }

  refresh(refreshToken: string): ProviderResult<TokenPair> {
    if (this.timeline.now < this.refreshDownUntil) return refused('ambiguous', 503)
    const session = this.sessions.find(
      (known) => known.refreshToken === refreshToken || known.previousRefreshToken === refreshToken,
    )
    if (session === undefined) {
      if (!this.#revoked)
        this.violated('a refresh token was used that the provider had replaced for good: the extension is lost')
      return { ok: false, failure: { ...failureOf('rejected', 400), oauthError: 'invalid_grant' } }
    }
    session.previousRefreshToken = refreshToken
    return { ok: true, value: this.#rotate(session) }
  }

  revoke(refreshToken: string): void {
    this.#revoked = true
    const index = this.sessions.findIndex((known) => known.refreshToken === refreshToken)
    if (index >= 0) this.sessions.splice(index, 1)
  }

  /** Invalidates all access tokens, as an administrator can do. Refresh tokens stay valid. */
  expireAccessTokens(): void {
    for (const session of this.sessions) session.accessExpiresAt = this.timeline.now
  }

  /** Checks the token and limits of a call to this group. Returns the refusal, or null. */
  refusal(accessToken: string, group: QuotaGroup, limited: boolean): ProviderResult<never> | null {
    const { now } = this.timeline
    const session = this.sessions.find((known) => known.accessToken === accessToken && known.accessExpiresAt > now)
    if (session === undefined) return refused('unauthorized', 401)
    session.previousRefreshToken = null
    const penalty = `${group}:${session.extensionId}`
    const stormy = now < this.stormUntil && this.random.chance(0.7)
    if (!limited && !stormy && now >= (this.#penalties.get(penalty) ?? 0)) return null
    const seconds = this.random.chance(0.3) ? null : this.random.int(1, this.random.chance(0.05) ? 1800 : 90)
    this.#penalties.set(penalty, now + (seconds ?? 60) * 1000)
    this.silentUntil = Math.max(this.silentUntil, now + (seconds ?? 60) * 1000)
    return {
      ok: false,
      failure: { ...failureOf('rate_limited', 429), retryAfterMs: seconds === null ? null : seconds * 1000 },
    }
  }

  /** The call queue that the number belongs to, if it belongs to one. */
  queueOf(number: string): string | null {
    return this.queueNumbers.includes(number) ? QUEUE_ID : null
  }

  extensionOf(accessToken: string): string {
    return this.sessions.find((known) => known.accessToken === accessToken)?.extensionId ?? ''
  }

  accept(extensionId: string, message: OutboundSms, attempt: AttemptRef, messageStatus: string): ProviderRecord {
    const record: ProviderRecord = {
      providerMessageId: String(1_000_000 + this.records.length),
      direction: 'Outbound',
      from: message.from,
      to: [{ phoneNumber: message.to, target: false }],
      text: message.text,
      messageStatus,
      deliveryErrorCode: null,
      createdAt: Math.floor(this.timeline.now),
      mediaTypes: (message.media ?? []).map(({ contentType }) => contentType),
      attachments: [],
      extensionId,
      attempt,
    }
    this.records.push(record)
    this.accepted(attempt.messageId)
    return record
  }

  list(extensionId: string, { direction, since, ofEveryOwner = false }: MessageQuery): StoredSms[] {
    return this.records
      .filter((record) => record.direction === direction && record.createdAt >= since)
      .filter((record) =>
        this.queueOf(record.from ?? '') === null
          ? record.extensionId === extensionId
          : ofEveryOwner && this.#isRecipient(extensionId, record),
      )
      .map(written)
  }

  #isRecipient(extensionId: string, { from }: ProviderRecord): boolean {
    return this.numbers.get(extensionId)?.includes(from ?? '') === true
  }

  #rotate(session: ModelSession): TokenPair {
    session.accessToken = `access-${++this.#drawn}`
    session.refreshToken = `refresh-${this.#drawn}`
    session.accessExpiresAt = this.timeline.now + ACCESS_SECONDS * 1000
    return {
      accessToken: session.accessToken,
      expiresInSeconds: ACCESS_SECONDS,
      refreshToken: session.refreshToken,
      refreshExpiresInSeconds: REFRESH_SECONDS,
      sessionEndsInSeconds: null,
      ownerId: session.extensionId,
    }
  }
}

export const refused = (reason: FailureReason, status: number | null): ProviderResult<never> => ({
  ok: false,
  failure: failureOf(reason, status),
})

const failureOf = (reason: FailureReason, status: number | null): ProviderFailure => ({
  reason,
  status,
  // Only the provider's own answers have a code.
  code: ['rejected', 'unauthorized', 'unavailable', 'rate_limited'].includes(reason) ? 'SIM-1' : null,
  message: `simulated ${reason}`,
  oauthError: null,
  retryAfterMs: null,
  requestId: null,
})
