import type { Clock } from '../core/clock.ts'
import type { SocketOrigin } from './http.ts'
import type { Session, Sessions } from './sessions.ts'
import type { Settings } from './settings.ts'
import type { SocketConnection } from './socket-connection.ts'
import { connectionDetails } from './socket-frames.ts'
import { SocketSession } from './socket-session.ts'
import { SocketTickets } from './socket-tickets.ts'
import type { SubscriptionBook } from './subscription-book.ts'

/** What the sockets need from the rest of the simulator. */
interface Surroundings {
  clock: Clock
  settings: Settings
  sessions: Sessions
  subscriptions: SubscriptionBook
}

/** What happens to an event: it is sent, waits for the client to come back, or is lost. */
export type Dispatch = 'sent' | 'kept' | 'lost'

/**
 * The sessions of the WebSocket gateway (RingCentral developer guide, "Recovering a WebSocket session"): a session can be recovered for
 * 180 s, with the newest 100 events of that time.
 */
export class Sockets {
  /** The address of the gateway, `ws://…/ws`. The server sets it when it listens. */
  uri = ''
  readonly tickets: SocketTickets
  readonly #sessions = new Map<string, SocketSession>()

  constructor(private readonly world: Surroundings) {
    this.tickets = new SocketTickets(world.clock)
  }

  /** Starts or recovers a session, and sends its first frames. */
  connect(connection: SocketConnection, request: ConnectRequest): SocketSession {
    const known = this.#sessions.get(request.recover ?? '')
    if (known !== undefined && request.isForgotten) this.#end(known)
    const isRecovered = known !== undefined && known.owner === request.owner && !request.isForgotten
    const session = isRecovered ? known : this.#add(request.owner)
    const recovery = session.open(connection)
    const { openedAt } = connection
    const opening = { openedAt, recovery, isRecovered: request.recover === null ? null : isRecovered }
    if (!request.isWithoutDetails) connection.send(connectionDetails(this.world.settings, opening))
    for (const frame of session.missed.splice(0)) connection.send(frame)
    return session
  }

  /** The client has `recoverySeconds` to come back. */
  disconnected(session: SocketSession, connection: SocketConnection): void {
    connection.ended()
    if (session.connection !== connection) return
    session.connection = null
    session.cancelForget = this.world.clock.after(this.world.settings.recoverySeconds * 1000, () => this.#end(session))
  }

  /** An ended login brings nothing over its open socket. */
  push({ token }: SocketOrigin, frame: string): Dispatch {
    const session = this.#sessions.get(token)
    if (session === undefined || !this.world.sessions.isOpen(session.owner)) return 'lost'
    const { connection } = session
    if (connection === null) {
      const { recoveryBufferSize } = this.world.settings
      session.missed = [...session.missed, frame].slice(Math.max(0, session.missed.length + 1 - recoveryBufferSize))
      return 'kept'
    }
    if (connection.isSilent) return 'lost'
    connection.sendEvent(frame)
    return 'sent'
  }

  /** Those with an open connection, oldest first. */
  open(extensionId?: string): OpenSocket[] {
    return [...this.#sessions.values()].flatMap((session) => {
      const { connection } = session
      const isWanted = extensionId === undefined || String(session.owner.extensionId) === extensionId
      return connection !== null && isWanted ? [{ session, connection }] : []
    })
  }

  /** Cancels every timer. */
  stop(): void {
    for (const session of this.#sessions.values()) {
      session.cancelForget()
      session.connection?.ended()
    }
    this.#sessions.clear()
  }

  #add(owner: Session): SocketSession {
    const session = new SocketSession(owner)
    this.#sessions.set(session.token, session)
    return session
  }

  #end(session: SocketSession): void {
    session.cancelForget()
    this.#sessions.delete(session.token)
    this.world.subscriptions.deleteOf(session)
  }
}

export interface ConnectRequest {
  owner: Session
  /** The token of the session to recover. */
  recover: string | null
  /** The session is lost instead of recovered. */
  isForgotten: boolean
  isWithoutDetails: boolean
}

export interface OpenSocket {
  session: SocketSession
  connection: SocketConnection
}
