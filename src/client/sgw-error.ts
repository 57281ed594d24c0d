/** What every method throws, besides bugs: the gateway refused, or no answer came. */
export class SgwError extends Error {
  override readonly name = 'SgwError'
  /** The HTTP status; 0 without an answer. */
  readonly status: number
  /** Names the request in the gateway's log; null without an answer. */
  readonly requestId: string | null
  /** After how many seconds the gateway accepts the request again; null if it did not say. */
  readonly retryAfterSeconds: number | null

  constructor(message: string, status = 0, details: SgwErrorDetails = {}) {
    super(message, { cause: details.cause })
    this.status = status
    this.requestId = details.requestId ?? null
    this.retryAfterSeconds = details.retryAfterSeconds ?? null
  }
}

export interface SgwErrorDetails {
  requestId?: string | null
  retryAfterSeconds?: number | null
  cause?: unknown
}
