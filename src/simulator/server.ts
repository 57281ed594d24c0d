import { type Answer, ClientConnection } from './connection.ts'

/**
 * Listens for HTTP/1.1 with `Bun.listen`, because a fault needs the socket: to reset it, to close it, or to write half an
 * answer. `Bun.serve` gives no access to the socket. `node:http` does, but takes twice the CPU time: 38 µs instead of
 * 19 µs for a trivial answer (Bun 1.4.4, server and client on one core each).
 */
export function listen({ hostname, port }: ListenOptions): Listener {
  const early: Parameters<Answer>[] = []
  let answer: Answer = (call, wire) => void early.push([call, wire])
  const listener = Bun.listen<ClientConnection>({
    hostname,
    port,
    socket: {
      open(socket) {
        socket.data = new ClientConnection(socket, (call, wire) => answer(call, wire))
      },
      data: (socket, chunk) => socket.data.data(chunk),
      drain: (socket) => socket.data.drain(),
      close: (socket) => socket.data.closed(),
      error: (socket) => socket.data.closed(),
    },
  })
  return {
    url: `http://${dialable(hostname)}:${listener.port}`,
    serve(handler) {
      answer = handler
      for (const [call, wire] of early.splice(0)) answer(call, wire)
    },
    stop: () => listener.stop(true),
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

/** The address as part of a URL. Loopback replaces the unspecified address, which not every system can dial. */
function dialable(hostname: string): string {
  if (hostname === '0.0.0.0' || hostname === '::') return '127.0.0.1'
  return hostname.includes(':') ? `[${hostname}]` : hostname
}
