import type { Clock } from '../core/clock.ts'
import type { Settings } from './settings.ts'
import { absoluteTimeout, idleTimeout } from './socket-frames.ts'

/** The part of a `Bun.serve` socket that a connection needs. */
export interface RawSocket {
  send(text: string): unknown
  ping(): unknown
  close(code: number): void
  terminate(): void
}

const NORMAL_CLOSURE = 1000

/**
 * An open socket (RingCentral developer guide, "Keeping WebSocket connections alive"): it ends after half an hour without a frame and after
 * a day, by the simulator's clock, and if a ping is not answered, in real time.
 */
export class SocketConnection {
  /** It is still open, but nothing arrives on either side, as on a dead link. */
  isSilent = false
  readonly openedAt: number
  /** Whether answers to subscriptions wait for the next event. */
  holdsAnswers = false
  readonly #heldAnswers: string[] = []
  readonly #end = Promise.withResolvers<void>()
  isOpen = true
  #endIdle: () => void = () => undefined
  readonly #endAbsolute: () => void
  #pinging: ReturnType<typeof setTimeout> | undefined

  constructor(
    private readonly socket: RawSocket,
    private readonly clock: Clock,
    private readonly settings: Settings,
  ) {
    this.openedAt = clock.now()
    this.#endAbsolute = clock.after(settings.socketSeconds * 1000, () => this.close(absoluteTimeout()))
    this.#idleAnew()
    this.#pingLater()
  }

  send(text: string): void {
    if (this.isSilent) return
    this.socket.send(text)
    this.#idleAnew()
  }

  sendSubscriptionAnswer(text: string): void {
    if (this.holdsAnswers) this.#heldAnswers.push(text)
    else this.send(text)
  }

  sendEvent(text: string): void {
    this.send(text)
    this.holdsAnswers = false
    for (const answer of this.#heldAnswers.splice(0)) this.send(answer)
  }

  notePong(): void {
    this.#pingLater()
  }

  /** With a closing frame, and before it the frame that names the reason. */
  close(lastFrame?: string, code = NORMAL_CLOSURE): void {
    if (lastFrame !== undefined) this.send(lastFrame)
    this.socket.close(code)
  }

  /** Ends the TCP connection without a closing frame. */
  cut(): void {
    this.socket.terminate()
  }

  /** Resolves after `ms` of real time (undefined: never), or as soon as the connection has ended. */
  pause(ms: number | undefined): Promise<void> {
    if (ms === undefined) return this.#end.promise
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, ms)
    return Promise.race([promise, this.#end.promise]).finally(() => clearTimeout(timer))
  }

  /** Ends its timers. */
  ended(): void {
    this.isOpen = false
    this.#end.resolve()
    this.#endIdle()
    this.#endAbsolute()
    clearTimeout(this.#pinging)
  }

  /** After each frame of the platform, which answers those of the client. */
  #idleAnew(): void {
    this.#endIdle()
    this.#endIdle = this.clock.after(this.settings.socketIdleSeconds * 1000, () => this.close(idleTimeout()))
  }

  #pingLater(): void {
    clearTimeout(this.#pinging)
    this.#pinging = setTimeout(() => this.#ping(), this.settings.socketPingMs)
    this.#pinging.unref()
  }

  #ping(): void {
    if (this.isSilent) return this.#pingLater()
    this.socket.ping()
    this.#pinging = setTimeout(() => this.cut(), this.settings.socketPongMs)
    this.#pinging.unref()
  }
}
