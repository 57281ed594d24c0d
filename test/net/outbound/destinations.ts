import { readFileSync } from 'node:fs'
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import { gzipSync } from 'node:zlib'

/** The reaction of a destination to the first bytes of a request. */
export type Behaviour = (socket: Socket) => void

export interface Destination extends AsyncDisposable {
  port: number
  /** The raw requests. */
  received: string[]
  /** Returns the number of connections, with or without a request. */
  connections(): number
}

const fixture = (name: string): string =>
  readFileSync(new URL(`fixtures/hooks.test.${name}.pem`, import.meta.url), 'utf8')

/** A self-signed certificate for `hooks.test` and 127.0.0.1. */
export const CERTIFICATE = fixture('cert')

/** Listens, by default on a free port. The behaviour starts with the first bytes of each connection. */
export async function startDestination(behaviour: Behaviour, host = '127.0.0.1', port = 0): Promise<Destination> {
  return listen((onSocket) => createServer(onSocket), behaviour, host, port)
}

export async function startTlsDestination(behaviour: Behaviour): Promise<Destination> {
  const options = { key: fixture('key'), cert: CERTIFICATE }
  return listen(
    (onSocket) => createTlsServer(options, onSocket).on('tlsClientError', () => {}),
    behaviour,
    '127.0.0.1',
    0,
  )
}

type Create = (onSocket: (socket: Socket) => void) => Server

async function listen(create: Create, behaviour: Behaviour, host: string, port: number): Promise<Destination> {
  const sockets = new Set<Socket>()
  const received: string[] = []
  let connections = 0
  const server = create((socket) => {
    sockets.add(socket)
    socket
      .on('error', () => {})
      .once('data', (data) => {
        received.push(data.toString())
        behaviour(socket)
      })
  })
  server.on('connection', () => (connections += 1))
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, host, resolve))
  return {
    port: (server.address() as AddressInfo).port,
    received,
    connections: () => connections,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** Answers with these bytes and closes. */
export const says =
  (...parts: (string | Uint8Array)[]): Behaviour =>
  (socket) => {
    for (const part of parts) socket.write(part)
    socket.end()
  }

/** Answers with these bytes and leaves the connection open. */
export const saysAndHangs =
  (text: string): Behaviour =>
  (socket) =>
    void socket.write(text)

/** Sends the beginning, then the same piece every few milliseconds. */
export const drips =
  (start: string, piece: string): Behaviour =>
  (socket) => {
    socket.write(start)
    const timer = setInterval(() => socket.write(piece), 10)
    socket.on('close', () => clearInterval(timer))
  }

/** Sends the beginning, then endless pieces as fast as the client reads. */
export const floods =
  (start: string, piece: string | Uint8Array): Behaviour =>
  (socket) => {
    socket.write(start)
    const pour = (): void => {
      while (!socket.destroyed && socket.write(piece));
    }
    socket.on('drain', pour)
    pour()
  }

export const hangs: Behaviour = () => {}
export const resets: Behaviour = (socket) => void socket.resetAndDestroy()
export const closes: Behaviour = (socket) => void socket.end()

/** Answers with 50 MiB of zeros in 50 KB of gzip. */
export function gzipBomb(): Behaviour {
  const packed = gzipSync(Buffer.alloc(50 * 1024 * 1024))
  return says(`HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: ${packed.length}\r\n\r\n`, packed)
}

export const response = (status: string, body = '', headers = ''): string =>
  `HTTP/1.1 ${status}\r\n${headers}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
