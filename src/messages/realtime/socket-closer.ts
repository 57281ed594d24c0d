import type { Clock } from '../../core/clock.ts'
import { MAX_LINGERING_SOCKETS, WS_LINGER_MS } from '../../core/limits.ts'

interface Closable {
  send(frame: string): unknown
  close(code: number, reason: string): void
  terminate(): void
}

export const POLICY_VIOLATION = 1008

/** Closes sockets, only a few at a time with a close frame. */
export class SocketCloser {
  /** How many closed sockets may still have a descriptor. */
  #lingering = 0

  constructor(readonly clock: Clock) {}

  /** Tells the client why, with the contract's error text. */
  fail(socket: Closable, error: string): void {
    socket.send(authError(error))
    this.close(socket, POLICY_VIOLATION, error)
  }

  /** If too many closed sockets still wait for the peer's close frame, cuts the connection instead. */
  close(socket: Closable, code: number, reason: string): void {
    if (this.#lingering >= MAX_LINGERING_SOCKETS) return socket.terminate()
    this.#lingering++
    this.clock.after(WS_LINGER_MS, () => this.#lingering--)
    socket.close(code, reason)
  }

  /** Cuts the connection immediately, so that a flood of new sockets does not leave a flood of closing ones. */
  evict(socket: Closable): void {
    socket.send(authError('Send auth first'))
    socket.terminate()
  }
}

const authError = (error: string): string => JSON.stringify({ type: 'auth_error', error })
