/** What every method throws, besides bugs: the gateway refused, or no answer came. */
export class SgwError extends Error {
  override readonly name = 'SgwError'

  constructor(
    message: string,
    /** The HTTP status; 0 without an answer. A redirect is not followed; where a browser hides its status, it is 302. */
    readonly status: number = 0,
    /** Names the request in the gateway's log; null without an answer. */
    readonly requestId: string | null = null,
    /** After how many seconds the gateway accepts the request again; null if it did not say. */
    readonly retryAfterSeconds: number | null = null,
    options?: { cause?: unknown },
  ) {
    super(message, options)
  }
}
