import {
  HttpConnection,
  type HttpFailure,
  type HttpEndpoint,
  type HttpExchangeListener,
} from '../../../src/net/http/http-connection.ts'
import { type HttpResponseHead, HttpResponseReader } from '../../../src/net/http/http-response-reader.ts'
import { headerLines, requestText } from '../../../src/net/http/request-text.ts'

export const MAX_HEAD_BYTES = 16_384

/** The result of one exchange. */
export interface ExchangeResult {
  head: HttpResponseHead | null
  body: string
  failure: HttpFailure | null
}

export const endpointAt = (port: number): HttpEndpoint => ({ hostname: '127.0.0.1', port, tls: null })
export const dial = (port: number): HttpConnection =>
  new HttpConnection(endpointAt(port), new HttpResponseReader(MAX_HEAD_BYTES))
export const request = (body = '', method = 'POST'): string =>
  requestText(method, '/path', headerLines({ Host: 'test' }), body)

/** Starts an exchange with `begin` and resolves with its result. */
export function exchange(begin: (listener: HttpExchangeListener) => void): Promise<ExchangeResult> {
  const { promise, resolve } = Promise.withResolvers<ExchangeResult>()
  const ended: ExchangeResult = { head: null, body: '', failure: null }
  const chunks: Uint8Array[] = []
  const finish = (failure: HttpFailure | null): void =>
    resolve({ ...ended, body: Buffer.concat(chunks).toString(), failure })
  begin({
    head: (head) => (ended.head = head),
    body: (bytes) => chunks.push(bytes),
    end: () => finish(null),
    fail: finish,
  })
  return promise
}

export const ask = (connection: HttpConnection, text = request()): Promise<ExchangeResult> =>
  exchange((listener) => connection.send(text, listener))
