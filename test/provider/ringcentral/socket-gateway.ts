import type { ServerWebSocket } from 'bun'
import type { EventSocket, EventSocketRequest, SocketEnd } from '../../../src/provider/event-socket.ts'
import type { ProviderResult } from '../../../src/provider/provider.ts'
import { ACCESS_TOKEN, clientOf } from './servers.ts'

export const TICKET = 'ticket-0123456789abcdef'
export const RECOVERY = 'recovery-0123456789abcdef'
export const SUBSCRIPTION = {
  id: 'sub-1',
  status: 'Active',
  expirationTime: '2026-11-29T02:30:00.000Z',
  eventFilters: [],
  deliveryMode: { transportType: 'WebSocket' },
}

type Frame = [Record<string, unknown>, unknown?]

export interface Script {
  /** The answer of `POST /restapi/oauth/wstoken`. */
  ticket?: (url: string) => Response
  /** Serves by TLS. */
  tls?: { key: string; cert: string }
  /** Called with each new socket; by default it greets. */
  greet?: (socket: ServerWebSocket<unknown>) => void
  /** The answer to a frame; undefined: none. By default the subscription, or a heartbeat. */
  answer?: (meta: Record<string, unknown>, body: unknown) => string | undefined
}

/** A ticket office and a WebSocket gateway that do what a test says. */
export class FakeGateway implements Disposable {
  readonly frames: Frame[] = []
  readonly opened: URL[] = []
  readonly headers: Headers[] = []
  readonly events: unknown[] = []
  readonly ends: SocketEnd[] = []
  readonly url: string
  readonly port: number
  readonly #server

  constructor(readonly script: Script = {}) {
    this.#server = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      ...(script.tls === undefined ? {} : { tls: script.tls }),
      fetch: (request, server) => {
        const url = new URL(request.url)
        this.headers.push(new Headers(request.headers))
        if (url.pathname === '/restapi/oauth/wstoken') return this.#ticket()
        this.opened.push(url)
        return server.upgrade(request) ? undefined : new Response(null, { status: 400 })
      },
      websocket: {
        open: (socket) => (script.greet ?? greet)(socket),
        message: (socket, text) => {
          const [meta, body] = JSON.parse(String(text)) as Frame
          this.frames.push([meta, body])
          const answer = (script.answer ?? usualAnswer)(meta, body)
          if (answer !== undefined) socket.send(answer)
        },
      },
    })
    this.port = Number(this.#server.port)
    this.url = script.tls === undefined ? `http://127.0.0.1:${this.port}` : `https://localhost:${this.port}`
  }

  /** Opens a socket as the gateway does. */
  open(
    other: Partial<EventSocketRequest> = {},
    options: Parameters<typeof clientOf>[1] = {},
  ): Promise<ProviderResult<EventSocket>> {
    return clientOf(this.url, { timeoutMs: 500, ...options }).openEventSocket(ACCESS_TOKEN, {
      topic: 'messages',
      recovery: null,
      frame: () => undefined,
      event: (body) => void this.events.push(body),
      ended: (why) => void this.ends.push(why),
      signal: new AbortController().signal,
      ...other,
    })
  }

  #ticket(): Response {
    const uri = `${this.url.replace('http', 'ws')}/ws?region=1`
    return this.script.ticket?.(uri) ?? ticketOf(uri)
  }

  [Symbol.dispose](): void {
    void this.#server.stop(true)
  }
}

export const ticketOf = (uri: string): Response => Response.json({ uri, ws_access_token: TICKET, expires_in: 30 })

export const detailsOf = (other: object = {}): string =>
  JSON.stringify([
    { type: 'ConnectionDetails', messageId: 'd', status: 200, wsc: { token: RECOVERY, sequence: 1 } },
    { absoluteTimeout: 3600, recoveryTimeout: 120, idleTimeout: 1800, ...other },
  ])

export const greet = (socket: ServerWebSocket<unknown>): void => void socket.send(detailsOf())

export const answerOf = ({ type, messageId }: Record<string, unknown>, status: number, body: unknown): string =>
  JSON.stringify([{ type, messageId, status, headers: { RCRequestId: 'request-1' } }, body])

export function usualAnswer(meta: Record<string, unknown>): string | undefined {
  return meta['type'] === 'Heartbeat' ? JSON.stringify([meta]) : answerOf(meta, 200, SUBSCRIPTION)
}

export const eventFrame = (body: unknown): string =>
  JSON.stringify([{ type: 'ServerNotification', messageId: 'e', status: 200 }, ...(body === undefined ? [] : [body])])
