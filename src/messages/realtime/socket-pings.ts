import type { ServerWebSocket } from 'bun'
import type { Clock } from '../../core/clock.ts'
import { MAX_UNANSWERED_PINGS, WS_FRAMES_PER_PING, WS_PING_MS } from '../../core/limits.ts'
import { POLICY_VIOLATION, type SocketCloser } from './socket-closer.ts'

/** The state that shows whether a socket's client is alive, and sends no more than it may. */
export interface Heard {
  /** `new`: no message yet; `checking`: its credential is being checked. */
  state: 'new' | 'checking' | 'authenticated'
  /** Pings since the last frame of the client. A count and not a time, because time passes without pings while a machine sleeps. */
  unanswered: number
  /** Frames of the client since the last ping. */
  frames: number
}

const PING = JSON.stringify({ type: 'ping' })

/** Pings authenticated sockets and ends silent ones. Bun's idle timeout misses a dead peer, because a successful send resets it. */
export class SocketPings<Socket extends ServerWebSocket<Heard>> {
  #cancel: () => void = () => undefined

  constructor(
    readonly clock: Clock,
    readonly closer: SocketCloser,
    readonly sockets: ReadonlySet<Socket>,
  ) {}

  start(): void {
    this.#cancel = this.clock.after(WS_PING_MS, () => {
      this.#pingAll()
      this.start()
    })
  }

  stop(): void {
    this.#cancel()
  }

  /** Records a frame from the client, of any kind. */
  heard(socket: Socket): void {
    const { data } = socket
    data.unanswered = 0
    data.frames++
    if (data.frames === WS_FRAMES_PER_PING + 1) this.closer.close(socket, POLICY_VIOLATION, 'Too many messages')
  }

  #pingAll(): void {
    for (const socket of this.sockets) {
      socket.data.frames = 0
      if (socket.data.unanswered >= MAX_UNANSWERED_PINGS) socket.terminate()
      else if (socket.data.state === 'authenticated') {
        socket.data.unanswered++
        socket.send(PING)
        socket.ping()
      }
    }
  }
}
