/** Carries requests to one server. Whatever happens is a value: never rejects. */
export type Transport = (request: HttpRequest) => Promise<HttpAnswer>

export interface HttpRequest {
  method: 'GET' | 'POST' | 'DELETE'
  /** Path and query as they stand in a request line. */
  target: string
  /** Beside those that every request has. */
  headers: Readonly<Record<string, string>>
  body: string | null
  /** As many bytes of the answer's body are read. */
  maxBytes: number
}

export type HttpAnswer = NoAnswer | SomeAnswer

export interface NoAnswer {
  ok: false
  /** The system's code, or `TimeoutError`. */
  code: string
  /** The server cannot have seen the request. */
  neverLeft: boolean
}

/** A status line with its headers has come. */
export interface SomeAnswer {
  ok: true
  status: number
  header(name: string): string | null
  /** Null if it could not be read to its end. */
  body: string | null
  /** Why the body is null. */
  bodyError: string | null
}

export interface TransportOptions {
  /** Scheme, host and port. */
  origin: URL
  /** In every request. */
  headers: Readonly<Record<string, string>>
  /** Certificate authorities instead of the built-in ones. */
  ca?: string
  /** For the whole exchange, the answer's body included. */
  timeoutMs: number
}

export const TIMEOUT = 'TimeoutError'
export const TOO_LARGE = 'ERR_ANSWER_TOO_LARGE'
