import { STATUS_CODES, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Reply } from './http.ts'

/** One client's connection while it waits for an answer: how to answer it, well or badly. */
export interface Wire {
  send(reply: Reply): void
  /** `reset` sends a TCP RST, `close` an orderly FIN. */
  cut(how: 'reset' | 'close'): void
  /** Writes bytes of our own making past the HTTP server. The connection cannot be used for HTTP afterwards. */
  raw(bytes: string | Uint8Array): void
  /** After `ms` of real time, or as soon as the client has left. */
  pause(ms: number | undefined): Promise<void>
  /** False once the client has left. */
  readonly open: boolean
}

export function createWire(request: IncomingMessage, response: ServerResponse): Wire {
  const { socket } = request
  return {
    send(reply) {
      if (socket.destroyed) return
      response.writeHead(reply.status, allHeaders(reply))
      response.end(reply.body)
    },
    cut(how) {
      if (how === 'reset') socket.resetAndDestroy()
      else socket.destroy()
    },
    raw: (bytes) => void socket.write(bytes),
    pause: (ms) => pauseOn(socket, ms),
    get open() {
      return !socket.destroyed
    },
  }
}

/** The same answer as text for `raw`, in two parts. */
export function rawReply(reply: Reply): { head: string; body: Buffer } {
  const headers = Object.entries({ ...allHeaders(reply), Connection: 'close' })
  const lines = [`HTTP/1.1 ${reply.status} ${STATUS_CODES[reply.status] ?? ''}`, ...headers.map((pair) => pair.join(': '))]
  return { head: `${lines.join('\r\n')}\r\n\r\n`, body: Buffer.from(reply.body) }
}

function allHeaders(reply: Reply): Record<string, string> {
  const length = reply.status === 204 ? {} : { 'Content-Length': String(Buffer.byteLength(reply.body)) }
  return {
    Server: 'nginx',
    RCRequestId: crypto.randomUUID(),
    RoutingKey: 'SJC01P07',
    'Content-Language': 'en-US',
    ...length,
    ...reply.headers,
  }
}

function pauseOn(socket: IncomingMessage['socket'], ms: number | undefined): Promise<void> {
  return new Promise((resolve) => {
    if (socket.destroyed) return resolve()
    const done = (): void => {
      clearTimeout(timer)
      socket.off('close', done)
      resolve()
    }
    const timer = ms === undefined ? undefined : setTimeout(done, ms)
    socket.on('close', done)
  })
}
