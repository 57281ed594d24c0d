import { randomText } from './random.ts'
import type { Session } from './sessions.ts'
import type { SocketConnection } from './socket-connection.ts'
import type { RecoveryToken } from './socket-frames.ts'

/** A session of the WebSocket gateway. It outlives its connection for a while, so that the client can recover it. */
export class SocketSession {
  readonly token = randomText(26)
  connection: SocketConnection | null = null
  /** The frames of events since the connection has ended, newest last. */
  missed: string[] = []
  /** Ends the wait for the client. */
  cancelForget: () => void = () => undefined
  #connections = 0

  constructor(readonly owner: Session) {}

  /** Takes another connection. An earlier one that is still open is closed. */
  open(connection: SocketConnection): RecoveryToken {
    this.cancelForget()
    const earlier = this.connection
    this.connection = connection
    earlier?.close()
    return { token: this.token, sequence: ++this.#connections }
  }
}
