import type { Server, ServerWebSocket, WebSocketHandler } from 'bun'
import type { Clock } from '../core/clock.ts'
import {
  MAX_LINGERING_SOCKETS,
  MAX_SOCKETS_PER_APP,
  MAX_UNANSWERED_PINGS,
  WS_AUTH_DEADLINE_MS,
  WS_BACKLOG_BYTES,
  WS_FRAME_BYTES,
  WS_LINGER_MS,
  WS_PING_MS,
} from '../core/limits.ts'
import type { Log } from '../core/log.ts'
import type { Cursors } from './cursor.ts'
import { CursorFrames, type SentCursor } from './cursor-frames.ts'
import type { GatewayEvent, LoggedRow } from './event.ts'
import type { Hub, Progress, RevokedScope } from './hub.ts'
import { authError, parseFirst } from './first-message.ts'
import { appTopic, tenantTopic, topicOf } from './topics.ts'
import { WaitingSockets } from './waiting-sockets.ts'

/** The state of a socket. */
export interface SocketData {
  address: string
  /** `new`: no message yet; `checking`: its credential is being checked. */
  state: 'new' | 'checking' | 'authenticated'
  appId: string
  tenantId: string
  cursor: SentCursor
  /** Pings since the last frame of the client. A count, because time passes without pings while a machine sleeps. */
  unanswered: number
  cancelDeadline: () => void
  /** Revocations that came while its credential was checked. The check may have read the database before them. */
  missed: RevokedScope[]
}

/** The app of an authenticated socket, or the contract's error text. */
export type SocketAuth = { ok: true; appId: string; tenantId: string } | { ok: false; error: string }

export interface SocketsContext {
  clock: Clock
  log: Log
  hub: Hub
  cursors: Cursors
  authenticate(message: Record<string, unknown>, address: string): Promise<SocketAuth>
}

type Socket = ServerWebSocket<SocketData>

const POLICY_VIOLATION = 1008
const GOING_AWAY = 1001
const TRY_AGAIN_LATER = 1013
const PING = JSON.stringify({ type: 'ping' })

/**
 * The WebSockets. A socket authenticates with its first message, then gets its app's `sms_status` and `sms_delivery` and its
 * tenant's `sms_inbound` and `opt_out` events through Bun's topics. Later messages of clients are ignored.
 */
export class Sockets {
  readonly #sockets = new Set<Socket>()
  readonly #waiting = new WaitingSockets<Socket>()
  /** How many sockets the gateway has closed that may still have a descriptor. */
  #lingering = 0
  #server: Server<SocketData> | null = null
  #cancelPing: () => void = () => undefined
  #endListening: () => void = () => undefined
  readonly #cursors: CursorFrames

  constructor(readonly context: SocketsContext) {
    this.#cursors = new CursorFrames({ ...context, sockets: () => this.#sockets })
    context.hub.onRevoke((scope) => this.#revoke(scope))
  }

  /** Bun's handlers, for `listen`. */
  readonly handlers: WebSocketHandler<SocketData> = {
    maxPayloadLength: WS_FRAME_BYTES,
    backpressureLimit: WS_BACKLOG_BYTES,
    closeOnBackpressureLimit: true,
    idleTimeout: 120,
    sendPings: true,
    perMessageDeflate: false,
    open: (socket) => this.#opened(socket),
    message: (socket, raw) => this.#received(socket, raw),
    pong: (socket) => void (socket.data.unanswered = 0),
    close: (socket) => this.#closed(socket),
  }

  start(server: Server<SocketData>): void {
    this.#server = server
    this.#planPing()
  }

  /** The data of a new socket. */
  admit(address: string): SocketData {
    return {
      address,
      state: 'new',
      appId: '',
      tenantId: '',
      cursor: { seq: Infinity, at: 0 },
      unanswered: 0,
      cancelDeadline: () => undefined,
      missed: [],
    }
  }

  /** Closes every socket, for a stop of the server. */
  closeAll(): void {
    this.#cancelPing()
    for (const socket of this.#sockets) socket.close(GOING_AWAY, 'Server is stopping')
  }

  /** How many sockets are connected, authenticated or not. */
  get count(): number {
    return this.#sockets.size
  }

  /** Adds a socket. The first one subscribes to the hub: without a socket, events need not be made. */
  #opened(socket: Socket): void {
    if (this.#sockets.size === 0)
      this.#endListening = this.context.hub.subscribe((event, row) => this.#publish(event, row))
    this.#sockets.add(socket)
    const oldest = this.#waiting.add(socket, socket.data.address)
    if (oldest !== null) this.#evict(oldest)
    socket.data.cancelDeadline = this.context.clock.after(WS_AUTH_DEADLINE_MS, () => {
      if (socket.data.state !== 'authenticated') this.#fail(socket, 'Send auth first')
    })
  }

  /** Reads the first message and ignores all others. */
  async #received(socket: Socket, raw: string | Buffer): Promise<void> {
    const { data } = socket
    data.unanswered = 0
    if (data.state !== 'new') return
    data.state = 'checking'
    const message = parseFirst(raw)
    if (typeof message === 'string') return this.#fail(socket, message)
    const checked = Promise.all([this.context.authenticate(message, data.address), this.context.hub.ready()])
    const [auth, progress] = await checked.catch(() => [null, null])
    if (socket.readyState !== WebSocket.OPEN) return
    // The storage failed, so the credential could not be checked.
    if (auth === null || progress === null) return this.#close(socket, TRY_AGAIN_LATER, 'Try again later')
    if (!auth.ok) return this.#fail(socket, auth.error)
    if (data.missed.some((scope) => isMeant(scope, auth))) return this.#fail(socket, 'Invalid API key')
    // The contract has no text for too many sockets.
    if (this.#countOf(auth.appId) >= MAX_SOCKETS_PER_APP) return this.#fail(socket, 'Invalid API key')
    this.#admitted(socket, auth, progress)
  }

  #admitted(socket: Socket, auth: Extract<SocketAuth, { ok: true }>, progress: Progress): void {
    const { data } = socket
    this.#stopWaiting(socket)
    data.state = 'authenticated'
    data.appId = auth.appId
    data.tenantId = auth.tenantId
    socket.subscribe(appTopic(auth.appId))
    socket.subscribe(tenantTopic(auth.tenantId))
    socket.send('{"type":"auth_ok"}')
    this.#cursors.send([socket], progress)
  }

  #closed(socket: Socket): void {
    this.#sockets.delete(socket)
    if (this.#sockets.size === 0) this.#endListening()
    this.#stopWaiting(socket)
  }

  #stopWaiting(socket: Socket): void {
    socket.data.cancelDeadline()
    this.#waiting.delete(socket)
  }

  /** Cuts the connection at once, so that a flood of new sockets does not leave as many that are closing. */
  #evict(socket: Socket): void {
    socket.send(authError('Send auth first'))
    socket.terminate()
  }

  #fail(socket: Socket, error: string): void {
    socket.send(authError(error))
    this.#close(socket, POLICY_VIOLATION, error)
  }

  /** Closes a socket. If too many closed sockets still wait for the peer's close frame, cuts the connection instead. */
  #close(socket: Socket, code: number, reason: string): void {
    if (this.#lingering >= MAX_LINGERING_SOCKETS) return socket.terminate()
    this.#lingering++
    this.context.clock.after(WS_LINGER_MS, () => this.#lingering--)
    socket.close(code, reason)
  }

  #countOf(appId: string): number {
    return this.#server?.subscriberCount(appTopic(appId)) ?? 0
  }

  #publish(event: GatewayEvent, { seq }: LoggedRow): void {
    this.#server?.publish(topicOf(event), JSON.stringify(event))
    this.#cursors.note(event.tenantId, seq)
  }

  #revoke(scope: RevokedScope): void {
    for (const socket of this.#sockets) {
      const { data } = socket
      if (data.state === 'checking') data.missed.push(scope)
      if (data.state === 'authenticated' && isMeant(scope, data)) this.#fail(socket, 'Invalid API key')
    }
  }

  #planPing(): void {
    this.#cancelPing = this.context.clock.after(WS_PING_MS, () => {
      this.#pingAll()
      this.#planPing()
    })
  }

  /** Pings authenticated sockets and ends silent ones. Bun's idle timeout misses a dead peer, because a successful send resets it. */
  #pingAll(): void {
    for (const socket of this.#sockets) {
      if (socket.data.unanswered >= MAX_UNANSWERED_PINGS) socket.terminate()
      else if (socket.data.state === 'authenticated') {
        socket.data.unanswered++
        socket.send(PING)
        socket.ping()
      }
    }
  }
}

const isMeant = (scope: RevokedScope, holder: { appId: string; tenantId: string }): boolean =>
  'appId' in scope ? holder.appId === scope.appId : holder.tenantId === scope.tenantId
