import { until } from './world.ts'

export type SocketMessage = Record<string, unknown>

/** A WebSocket client that records the messages that it receives. */
export class SocketClient implements AsyncDisposable {
  readonly messages: SocketMessage[] = []
  /** The cursor frames, separate from the other messages. */
  readonly cursors: { cursor: string; at: number }[] = []
  /** The close frame, once the socket is closed. */
  readonly closed: Promise<{ code: number; reason: string }>
  readonly #socket: WebSocket

  constructor(url: string, headers: Record<string, string> = {}) {
    // Bun's client accepts options that the browsers' type lacks. The proxies of tests have their own certificates.
    const options = { headers, tls: { rejectUnauthorized: false } }
    this.#socket = new WebSocket(url, options as unknown as string[])
    this.#socket.addEventListener('message', (event) => this.#receive(JSON.parse(String(event.data)) as SocketMessage))
    this.closed = new Promise((resolve) => {
      this.#socket.addEventListener('close', ({ code, reason }) => resolve({ code, reason }))
    })
  }

  /** Resolves when the connection is open. Rejects if it is refused. */
  async opened(): Promise<this> {
    await new Promise<void>((resolve, reject) => {
      if (this.#socket.readyState === WebSocket.OPEN) resolve()
      this.#socket.addEventListener('open', () => resolve())
      this.#socket.addEventListener('error', () => reject(new Error('The WebSocket was refused')))
    })
    return this
  }

  send(message: unknown): void {
    this.#socket.send(typeof message === 'string' || message instanceof Uint8Array ? message : JSON.stringify(message))
  }

  get isOpen(): boolean {
    return this.#socket.readyState === WebSocket.OPEN
  }

  /** Resolves with the first `count` messages. */
  received(count: number, withinMs?: number): Promise<SocketMessage[]> {
    return until(() => (this.messages.length >= count ? this.messages.slice(0, count) : null), withinMs)
  }

  #receive(message: SocketMessage): void {
    if (message['type'] !== 'cursor') this.messages.push(message)
    else this.cursors.push({ cursor: String(message['cursor']), at: performance.now() })
  }

  ofType(type: string): SocketMessage[] {
    return this.messages.filter((message) => message['type'] === type)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#socket.readyState === WebSocket.CLOSED) return
    this.#socket.terminate()
    await this.closed
  }
}

export const wsUrl = (url: string): string => `${url.replace(/^http/, 'ws')}/ws`

/** Opens a connection without sending anything. */
export const openSocket = (url: string, headers: Record<string, string> = {}): Promise<SocketClient> =>
  new SocketClient(wsUrl(url), headers).opened()

/** Opens an authenticated connection. Fails if it is refused. */
export async function listenTo(
  url: string,
  credential: { apiKey: string } | { token: string },
  headers: Record<string, string> = {},
): Promise<SocketClient> {
  const socket = await openSocket(url, headers)
  socket.send({ type: 'auth', ...credential })
  const [first] = await socket.received(1)
  if (first?.['type'] !== 'auth_ok') throw new Error(`Not authenticated: ${JSON.stringify(first)}`)
  return socket
}

/** Sends a first message. Returns all received messages and the close frame. */
export async function firstMessage(
  url: string,
  message: unknown,
  headers: Record<string, string> = {},
): Promise<{ messages: unknown[]; code: number; reason: string }> {
  await using socket = await openSocket(url, headers)
  socket.send(message)
  const { code, reason } = await socket.closed
  return { messages: socket.messages, code, reason }
}
