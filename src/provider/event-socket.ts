import type { Topic } from '../db/schema/connections.ts'

// The sockets of the port to the provider (`provider.ts`), over which it sends events.

export interface EventSocketRequest {
  topic: Topic
  /** From a closed socket: its subscription continues, and missed events are sent, if the provider still knows it. */
  recovery: SocketRecovery | null
  /** Called for each frame. */
  frame(): void
  /** Called with the body of each event, even while the socket is being opened. */
  event(body: unknown): void
  /** Called once, if an opened socket ends other than by `close`. */
  ended(why: SocketEnd): void
  /** Ends the attempt to open it. */
  signal: AbortSignal
}

/** Lets the next socket continue where the last one ended. Contains a credential. */
export interface SocketRecovery {
  token: string
  subscriptionId: string
  /** How long the provider keeps unsent events. */
  forMs: number
}

export interface SocketEnd {
  /** Of the WebSocket protocol; 1006 without a closing frame. */
  code: number
  /** The provider's reason (`WSG-903`) or the gateway's (`silent`); null if unknown. */
  reason: string | null
}

/** The code for a socket that ended without a closing frame. */
export const NO_CLOSING_FRAME = 1006

/** An open socket with its one subscription. */
export interface EventSocket {
  subscriptionId: string
  /** Whether it continues where `recovery` ended. Even so, more events may have been missed than the provider keeps. */
  recovered: boolean
  /** Milliseconds until the provider ends it in any case. */
  lifeMs: number
  /** For the next `openEventSocket`, once this one has ended; null if the provider gave none. */
  recovery(): SocketRecovery | null
  /** Asks for a sign of life; false if none arrives in time. */
  heartbeat(): Promise<boolean>
  /** Asks the provider whether it still has the subscription; null if it does not answer. */
  isSubscribed(): Promise<boolean | null>
  /** Ends it immediately, without a closing handshake, which would take minutes on a dead connection. */
  close(): void
}
