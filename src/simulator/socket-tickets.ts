import type { Clock } from '../core/clock.ts'
import { randomText } from './random.ts'
import type { Session } from './sessions.ts'
import type { SocketConnection } from './socket-connection.ts'

const MAX_TICKETS = 10_000

export interface Ticket {
  session: Session
  expiresAt: number
  isUsed: boolean
  /** The socket that it has opened. */
  connection: SocketConnection | null
}

/** The tokens that open one connection each (RingCentral developer guide, "Obtaining a WebSocket access token and server URL"). */
export class SocketTickets {
  readonly #tickets = new Map<string, Ticket>()

  constructor(private readonly clock: Clock) {}

  issue(session: Session, seconds: number): string {
    const text = randomText(36)
    this.#tickets.set(text, { session, expiresAt: this.clock.now() + seconds * 1000, isUsed: false, connection: null })
    const oldest = this.#tickets.keys().next().value
    if (this.#tickets.size > MAX_TICKETS && oldest !== undefined) this.#tickets.delete(oldest)
    return text
  }

  /** A ticket within its lifetime, used or not. */
  find(text: string): Ticket | undefined {
    const ticket = this.#tickets.get(text)
    return ticket === undefined || this.clock.now() >= ticket.expiresAt ? undefined : ticket
  }
}
