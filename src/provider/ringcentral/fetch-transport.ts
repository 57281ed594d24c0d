import { boundedText } from '../../net/http/bounded-text.ts'
import { type HttpAnswer, type HttpRequest, TOO_LARGE, type Transport, type TransportOptions } from './transport.ts'

/**
 * Calls the provider with Bun's `fetch`, through the proxy that HTTP_PROXY or HTTPS_PROXY names. Bun never repeats a POST, even if a pooled
 * connection turns out to be closed (it does repeat a GET).
 */
export function fetchTransport(options: TransportOptions): Transport {
  return async (request) => {
    let head: Head | null = null
    try {
      const response = await fetch(`${options.origin.origin}${request.target}`, initOf(request, options))
      head = { ok: true, status: response.status, header: (name) => response.headers.get(name) }
      const body = await boundedText(response.body, request.maxBytes)
      return { ...head, body, bodyError: body === null ? TOO_LARGE : null }
    } catch (error) {
      const code = errorCode(error)
      return head === null ? { ok: false, code, neverLeft: neverLeft(code) } : { ...head, body: null, bodyError: code }
    }
  }
}

type Head = Omit<HttpAnswer & { ok: true }, 'body' | 'bodyError'>

const initOf = (request: HttpRequest, { headers, ca }: TransportOptions): BunFetchRequestInit => ({
  method: request.method,
  headers: { ...headers, ...request.headers },
  body: typeof request.body === 'string' || request.body === null ? request.body : new Blob([...request.body]),
  redirect: 'manual',
  decompress: false,
  ...(ca === undefined ? {} : { tls: { ca } }),
  signal: AbortSignal.timeout(request.timeoutMs),
})

/**
 * Codes of Bun's fetch that prove that the server never got the request: there was no connection, no address or no tunnel
 * through the proxy, or the certificate was refused before anything was written. `EPROTO` ("the TLS handshake failed") is
 * not one of them: Bun also reports it for a broken TLS record *after* the server has read the request. Neither is
 * `ECONNRESET`, which Bun reports for all other ends of a connection.
 */
const NEVER_LEFT = new Set([
  'ECONNREFUSED',
  'ENETUNREACH',
  'ENOTFOUND',
  'ERR_PROXY_TUNNEL',
  'INVALID_CA',
  'INVALID_PURPOSE',
])
const NAME_OR_CERTIFICATE = /^(EAI|ERR_TLS_CERT|CERT|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|HOSTNAME)_/

const neverLeft = (code: string): boolean => NEVER_LEFT.has(code) || NAME_OR_CERTIFICATE.test(code)

/** The error's code if it is a text, else its name: a timeout of fetch has the name `TimeoutError` and the code 23. */
export function errorCode(error: unknown): string {
  if (!(error instanceof Error)) return 'UnknownError'
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name
}
