/** The error that every method throws, apart from bugs: the gateway refused, or did not answer. */
export class SgwError extends Error {
  override readonly name = 'SgwError'

  constructor(
    message: string,
    /** The HTTP status; 0 without an answer. Redirects are not followed; if a browser hides the status, it is 302. */
    readonly status: number = 0,
    /** The id of the request in the gateway's log; null without an answer. */
    readonly requestId: string | null = null,
    /** After how many seconds the gateway accepts the request again; null if it did not say. */
    readonly retryAfterSeconds: number | null = null,
    options?: { cause?: unknown },
  ) {
    super(message, options)
  }
}
