import type { Topic } from '../db/schema/connections.ts'

// The sockets of the port to the provider (`provider.ts`), over which it sends events.

export interface EventSocketRequest {
  topic: Topic
  /** Of a socket that has closed: its subscription goes on, and what came meanwhile is sent, if the provider still knows it. */
  recovery: SocketRecovery | null
  /** Called for each frame. */
  frame(): void
  /** Called with the body of each event, also while the socket is being opened. */
  event(body: unknown): void
  /** Called once, when an opened socket has ended in another way than by `close`. */
  ended(why: SocketEnd): void
  /** Ends the attempt to open it. */
  signal: AbortSignal
}

/** Lets the next socket go on where one has ended. Contains a credential. */
export interface SocketRecovery {
  token: string
  subscriptionId: string
  /** How long the provider keeps what it could not send. */
  forMs: number
}

export interface SocketEnd {
  /** Of the WebSocket protocol; 1006 without a closing frame. */
  code: number
  /** The provider's reason (`WSG-903`) or ours (`silent`); null if none is known. */
  reason: string | null
}

/** The code of a socket that ended without a closing frame. */
export const NO_CLOSING_FRAME = 1006

/** An open socket with its one subscription. */
export interface EventSocket {
  subscriptionId: string
  /** Whether it goes on where `recovery` ended. More than the provider keeps may have been missed all the same. */
  recovered: boolean
  /** Milliseconds until the provider ends it, whatever happens. */
  lifeMs: number
  /** For the next `openEventSocket`, once this one has ended; null if the provider gave nothing for it. */
  recovery(): SocketRecovery | null
  /** Asks for a sign of life; false if none came in time. */
  heartbeat(): Promise<boolean>
  /** Asks the provider whether it still has the subscription; null if it does not say. */
  isSubscribed(): Promise<boolean | null>
  /** Ends it at once, without a closing handshake, which would take minutes on a dead connection. */
  close(): void
}
