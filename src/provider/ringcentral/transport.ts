/** Sends requests to one server. Every failure is a result; it never rejects. */
export type Transport = (request: HttpRequest) => Promise<HttpAnswer>

export interface HttpRequest {
  method: 'GET' | 'POST' | 'DELETE'
  /** Path and query of the request line. */
  target: string
  /** Headers in addition to those of `TransportOptions`. */
  headers: Readonly<Record<string, string>>
  /** In pieces, or as one text. */
  body: string | readonly Uint8Array[] | null
  /** A longer response body is not read. */
  maxBytes: number
  /** For the complete exchange, including the body of the response. */
  timeoutMs: number
}

export type HttpAnswer = NoAnswer | SomeAnswer

export interface NoAnswer {
  ok: false
  /** The system's code, or `TimeoutError`. */
  code: string
  /** The server cannot have seen the request. */
  neverLeft: boolean
}

/** At least the status line and the headers were received. */
export interface SomeAnswer {
  ok: true
  status: number
  header(name: string): string | null
  /** Null if it could not be read completely. */
  body: string | null
  /** Why the body is null. */
  bodyError: string | null
}

export interface TransportOptions {
  /** Scheme, host and port. */
  origin: URL
  /** Sent with every request. */
  headers: Readonly<Record<string, string>>
  /** Certificate authorities instead of the built-in ones. */
  ca?: string
}

export const TIMEOUT = 'TimeoutError'
export const TOO_LARGE = 'ERR_ANSWER_TOO_LARGE'
