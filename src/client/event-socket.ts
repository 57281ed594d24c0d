import type { GatewayEvent } from './event-types.ts'
import { type SocketLike, type WebSocketClass, parse } from './requester.ts'
import { SgwError } from './sgw-error.ts'

export type Frame = GatewayEvent | CursorFrame

/** All events before it, and perhaps some later ones, were sent. */
interface CursorFrame {
  type: 'cursor'
  cursor: string
}

type AnyFrame = Frame | { type: 'auth_ok' } | { type: 'auth_error'; error: string } | null | undefined

/** The gateway pings every 30 s. */
const SILENCE_MS = 70_000
const CHECK_EVERY_MS = 5000
/** A consumer slower than the events gets later ones by cursor. */
const MAX_FRAMES = 1000

/** Frames and events of types that this version does not know are ignored. */
export const isEvent = ({ type }: { type: string }): boolean => /^(sms_(status|inbound|delivery)|opt_out)$/.test(type)

/** One WebSocket, from its authentication to its end. It keeps frames until they are read. */
export class EventSocket {
  readonly #socket: SocketLike
  #frames: Frame[] = []
  #firstCursor: string | null = null
  #isAuthenticated = false
  /** How long the socket may be silent. */
  #limitMs: number
  #isEnded = false
  #ending = 'was closed'
  #heardAt = Date.now()
  readonly #check: ReturnType<typeof setInterval>
  #wake?: () => void

  constructor(socketClass: WebSocketClass, url: string, token: string, timeoutMs: number) {
    const socket = new socketClass(url)
    this.#socket = socket
    this.#limitMs = timeoutMs
    // Not a single timer: after the sleep of a laptop, the time of the sleep counts.
    this.#check = setInterval(() => this.#endIfSilent(), CHECK_EVERY_MS)
    socket.addEventListener('open', () => socket.send(JSON.stringify({ type: 'auth', token })))
    socket.addEventListener('message', (event) => this.#receive((event as { data?: unknown }).data))
    for (const type of ['close', 'error'] as const) socket.addEventListener(type, () => this.end())
  }

  /** Resolves when it is authenticated. Throws an `SgwError` if the socket ends first. */
  async opened(): Promise<void> {
    while (!this.#isAuthenticated) await this.#change()
  }

  /** Resolves with the first cursor. The frames stay. Throws an `SgwError` if the socket ends before. */
  async firstCursor(): Promise<string> {
    while (this.#firstCursor === null) await this.#change()
    return this.#firstCursor
  }

  /** The next frame. Throws an `SgwError` at the end. */
  async next(): Promise<Frame> {
    for (;;) {
      const frame = this.#frames.shift()
      if (frame !== undefined) return frame
      await this.#change()
    }
  }

  /** Drops the frames that were not read. */
  clear(): void {
    this.#frames = []
  }

  /** Ends immediately: a socket to a dead peer closes much later. */
  end(): void {
    if (this.#isEnded) return
    this.#isEnded = true
    clearInterval(this.#check)
    this.#socket.close()
    this.#wake?.()
  }

  /** Resolves when something has changed. */
  async #change(): Promise<void> {
    if (!this.#isEnded) await new Promise<void>((resolve) => (this.#wake = resolve))
    else throw new SgwError(`The WebSocket ${this.#ending}`)
  }

  #receive(data: unknown): void {
    if (this.#isEnded || typeof data !== 'string') return
    this.#heardAt = Date.now()
    const frame = parse(data) as AnyFrame
    if (frame?.type === 'auth_ok') {
      this.#isAuthenticated = true
      this.#limitMs = SILENCE_MS
    } else if (frame?.type === 'auth_error') this.#ending = `was refused: ${frame.error}`
    else if (frame?.type === 'cursor' || (frame && isEvent(frame))) this.#keep(frame)
    this.#wake?.()
  }

  #keep(frame: Frame): void {
    if (frame.type === 'cursor') this.#firstCursor ??= frame.cursor
    if (this.#frames.push(frame) >= MAX_FRAMES) this.end()
  }

  #endIfSilent(): void {
    if (Date.now() - this.#heardAt < this.#limitMs) return
    this.#ending = `was silent for ${this.#limitMs} ms`
    this.end()
  }
}
