import {
  Connection,
  type ConnectionFailure,
  type Endpoint,
  type ExchangeListener,
} from '../../src/http-client/connection.ts'
import type { ResponseHead } from '../../src/http-client/response-reader.ts'
import { headerLines, requestText } from '../../src/http-client/request-text.ts'

export const MAX_HEAD_BYTES = 16_384

/** What one exchange ended with. */
export interface Ended {
  head: ResponseHead | null
  body: string
  failure: ConnectionFailure | null
}

export const endpointAt = (port: number): Endpoint => ({ hostname: '127.0.0.1', port, tls: null })
export const dial = (port: number): Connection => new Connection(endpointAt(port), MAX_HEAD_BYTES)
export const request = (body = '', method = 'POST'): string =>
  requestText(method, '/path', headerLines({ Host: 'test' }), body)

/** Hears of one exchange that `begin` starts. */
export function exchange(begin: (listener: ExchangeListener) => void): Promise<Ended> {
  const { promise, resolve } = Promise.withResolvers<Ended>()
  const ended: Ended = { head: null, body: '', failure: null }
  const chunks: Uint8Array[] = []
  const finish = (failure: ConnectionFailure | null): void =>
    resolve({ ...ended, body: Buffer.concat(chunks).toString(), failure })
  begin({
    head: (head) => (ended.head = head),
    body: (bytes) => chunks.push(bytes),
    end: () => finish(null),
    fail: finish,
  })
  return promise
}

export const ask = (connection: Connection, text = request()): Promise<Ended> =>
  exchange((listener) => connection.send(text, listener))
