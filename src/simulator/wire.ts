import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Reply } from './http.ts'

/** Answers one request, correctly or with a fault. */
export interface AnswerWire {
  /** The reply that `send` has written; null before, and if only raw bytes were written. */
  readonly sent: Reply | null
  /** False once the client has disconnected. */
  readonly open: boolean
  send(reply: Reply): void
  /** Writes the bytes unchanged. Call `cut` afterward. */
  raw(bytes: string | Uint8Array): void
  /** `reset` ends the connection hard, `close` in an orderly way. */
  cut(how: 'reset' | 'close'): void
  /** Resolves after `ms` of real time (undefined: never), or as soon as the client disconnects. */
  pause(ms: number | undefined): Promise<void>
}

/** Answers an HTTP request. */
export class Wire implements AnswerWire {
  private readonly socket: Socket

  constructor(private readonly response: ServerResponse) {
    this.socket = response.req.socket
    response.sendDate = false
  }

  sent: Reply | null = null

  send(reply: Reply): void {
    this.sent = reply
    this.response.writeHead(reply.status, headersOf(reply)).end(reply.bytes ?? reply.body)
  }

  raw(bytes: string | Uint8Array): void {
    this.socket.write(bytes)
  }

  /** `reset` sends a TCP RST, `close` an orderly FIN. */
  cut(how: 'reset' | 'close'): void {
    if (how === 'reset') this.socket.resetAndDestroy()
    else this.socket.end()
  }

  pause(ms: number | undefined): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    if (!this.open) resolve()
    this.socket.once('close', resolve)
    const timer = ms === undefined ? undefined : setTimeout(resolve, ms)
    return promise.finally(() => {
      clearTimeout(timer)
      this.socket.off('close', resolve)
    })
  }

  get open(): boolean {
    return !this.socket.destroyed
  }
}

/** The bytes of an answer that ends its connection. */
export function rawReply(reply: Reply): { head: string; body: Buffer } {
  const { STATUS_CODES } = process.getBuiltinModule('node:http')
  const headers = Object.entries(headersOf(reply)).map(([name, value]) => `${name}: ${value}\r\n`)
  const statusLine = `HTTP/1.1 ${reply.status} ${STATUS_CODES[reply.status] ?? ''}\r\n`
  return { head: `${statusLine}${headers.join('')}Connection: close\r\n\r\n`, body: bytesOf(reply) }
}

/** The headers of an answer, with those that the platform adds to every answer. */
const headersOf = ({ headers, ...reply }: Reply): Record<string, string | number> => ({
  Server: 'nginx',
  RoutingKey: 'SJC01P07',
  'Content-Language': 'en-US',
  RCRequestId: crypto.randomUUID(),
  ...headers,
  ...(reply.status === 204 ? {} : { 'Content-Length': bytesOf(reply).length }),
})

const bytesOf = ({ body, bytes }: Omit<Reply, 'headers'>): Buffer => Buffer.from(bytes ?? body)
