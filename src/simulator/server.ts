import { once } from 'node:events'
import type { IncomingMessage, RequestListener, Server as HttpServer } from 'node:http'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { empty, type Call } from './http.ts'
import { readParts } from './multipart.ts'
import { Wire } from './wire.ts'

/**
 * Listens with `node:http`, because a fault needs the socket: to reset it, to close it, or to write half an answer.
 * `Bun.serve` gives no access to the socket.
 *
 * @throws when the port is taken.
 */
export async function startListening(options: ListenOptions): Promise<Listener> {
  const server = httpServer()
  return open(server, options, (answer) => void server.on('request', receiver(answer)))
}

/**
 * Listens without `node:http`, because a start need not wait the 10 ms until that is loaded. `serve` loads it; until then
 * the sockets keep what they receive. An answer takes some 10 µs more than with `listen`.
 */
export async function reserve(options: ListenOptions): Promise<Listener> {
  const server = createServer({ noDelay: true })
  return open(server, options, (answer, sockets) => {
    const http = httpServer().on('request', receiver(answer))
    const take = (socket: Socket): void => void http.emit('connection', socket)
    sockets.forEach(take)
    server.on('connection', take)
  })
}

async function open(
  server: Server,
  { hostname, port }: ListenOptions,
  serve: (answer: Answer, sockets: ReadonlySet<Socket>) => void,
): Promise<Listener> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
    // A client may reset its connection at any time.
    socket.on('error', () => undefined)
  })
  await once(server.listen(port, hostname), 'listening')
  return {
    url: `http://${dialable(hostname)}:${(server.address() as AddressInfo).port}`,
    serve: (answer) => serve(answer, sockets),
    stop() {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}

export interface ListenOptions {
  hostname: string
  port: number
}

export interface Listener {
  /** Without a slash at the end. */
  url: string
  /** Sets the function that answers. Earlier requests wait for it. */
  serve(answer: Answer): void
  /** Frees the port and closes every connection. */
  stop(): void
}

export type Answer = (call: Call, wire: Wire) => void

/** The address as part of a URL. Loopback replaces the unspecified address, which not every system can dial. */
function dialable(hostname: string): string {
  if (hostname === '0.0.0.0' || hostname === '::') return '127.0.0.1'
  return hostname.includes(':') ? `[${hostname}]` : hostname
}

/** Without a timeout for idle connections: no request of a client meets a connection that is just being closed. */
const OPTIONS = { keepAliveTimeout: 0 }
/** As the reference says for messages, `x-request-max-body-size`. */
const MAX_BODY_BYTES = 10_485_760

const httpServer = (): HttpServer => process.getBuiltinModule('node:http').createServer(OPTIONS)

const receiver =
  (answer: Answer): RequestListener =>
  (request, response) => {
    const chunks: Buffer[] = []
    let bytes = 0
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes <= MAX_BODY_BYTES) chunks.push(chunk)
    })
    request.on('end', () => {
      const wire = new Wire(response)
      if (bytes > MAX_BODY_BYTES) wire.send(empty(413))
      else answer(callOf(request, Buffer.concat(chunks)), wire)
    })
  }

function callOf({ method = '', url = '', headers }: IncomingMessage, bytes: Buffer): Call {
  const [path = '', query] = url.split(/\?(.*)/s)
  const parts = readParts(headers['content-type'] ?? '', bytes)
  const content =
    parts === null
      ? { body: bytes.toString() }
      : { body: Buffer.from(parts[0]?.bytes ?? []).toString(), files: parts.slice(1) }
  // Only repeated `Set-Cookie` headers are an array, and no client sends them.
  return { method, path, query: new URLSearchParams(query), headers: headers as Record<string, string>, ...content }
}
