import net from 'node:net'
import type { AddressInfo } from 'node:net'
import { createRingCentral } from '../../../src/provider/ringcentral/client.ts'
import type { RingCentralOptions } from '../../../src/provider/ringcentral/request.ts'
import type { ProviderFailure, ProviderResult } from '../../../src/provider/provider.ts'

/** A request that a test server has received. All values are copies, so that a test can compare them later. */
export interface ReceivedRequest {
  method: string
  path: string
  query: URLSearchParams
  headers: Headers
  body: string
}

export interface TestServer extends Disposable {
  url: string
  requests: ReceivedRequest[]
}

/** Starts an HTTP server on a free port that records each request before it answers. */
export function httpServer(answer: (request: ReceivedRequest) => Response): TestServer {
  const requests: ReceivedRequest[] = []
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const url = new URL(request.url)
      const { method, headers } = request
      const received = {
        method,
        path: url.pathname,
        query: url.searchParams,
        headers: new Headers(headers),
        body: await request.text(),
      }
      requests.push(received)
      return answer(received)
    },
  })
  return { url: `http://127.0.0.1:${server.port}`, requests, [Symbol.dispose]: () => void server.stop(true) }
}

export interface RawServer extends AsyncDisposable {
  port: number
  url: string
  connections: number
}

/** Starts a TCP server, or the given TLS server, that passes each connection to the test. */
export async function rawServer(onSocket: (socket: net.Socket) => void, given?: net.Server): Promise<RawServer> {
  const open = new Set<net.Socket>()
  const server = given ?? net.createServer()
  const raw: RawServer = { port: 0, url: '', connections: 0, [Symbol.asyncDispose]: close }
  server.on('connection', (socket) => {
    raw.connections += 1
    open.add(socket.on('error', () => {}))
  })
  server.on(given ? 'secureConnection' : 'connection', (socket: net.Socket) => onSocket(socket.on('error', () => {})))
  server.on('tlsClientError', () => {})
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
  raw.port = (server.address() as AddressInfo).port
  raw.url = `http://127.0.0.1:${raw.port}`
  return raw

  async function close(): Promise<void> {
    for (const socket of open) socket.destroy()
    await new Promise<void>((closed) => server.close(() => closed()))
  }
}

/** Returns a port of this machine on which no server listens. */
export async function deadPort(): Promise<number> {
  const server = await rawServer(() => {})
  await server[Symbol.asyncDispose]()
  return server.port
}

export const CLIENT_ID = 'the-client-id'
export const CLIENT_SECRET = 'the+client/secret='
export const ACCESS_TOKEN = 'access-token-0123456789'

export const clientOf = (serverUrl: string, other: Partial<RingCentralOptions> = {}) =>
  createRingCentral({
    serverUrl,
    clientId: CLIENT_ID,
    clientSecret: CLIENT_SECRET,
    timeoutMs: 5000,
    userAgent: 'sgw/test',
    ...other,
  })

/** Returns the value of a result that must be a success. */
export function valueOf<T>(result: ProviderResult<T>): T {
  if (!result.ok) throw new Error(`Unexpected failure: ${JSON.stringify(result.failure)}`)
  return result.value
}

/** Returns the failure of a result that must be one. */
export function failureOf(result: ProviderResult<unknown>): ProviderFailure {
  if (result.ok) throw new Error(`Unexpected success: ${JSON.stringify(result.value)}`)
  return result.failure
}

/** RingCentral's error envelope (OpenAPI `ApiError`). */
export const errorBody = (errorCode: string, message: string) => ({
  errorCode,
  message,
  errors: [{ errorCode, message }],
})

export const tokenBody = (other: object = {}) => ({
  access_token: ACCESS_TOKEN,
  token_type: 'bearer',
  expires_in: 3599,
  refresh_token: 'refresh-token-0123456789',
  refresh_token_expires_in: 604_799,
  scope: 'ReadMessages ReadAccounts SubscriptionWebhook SMS',
  owner_id: '629890016',
  endpoint_id: '8zXq6oaLT7WvwWITlGiA1A',
  ...other,
})
