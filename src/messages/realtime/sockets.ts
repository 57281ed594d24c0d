import type { Server, ServerWebSocket, WebSocketHandler } from 'bun'
import type { Clock } from '../../core/clock.ts'
import {
  MAX_SOCKETS_PER_APP,
  MAX_UNANSWERED_PINGS,
  WS_AUTH_DEADLINE_MS,
  WS_BACKLOG_BYTES,
  WS_FRAMES_PER_PING,
  WS_FRAME_BYTES,
  WS_PING_MS,
} from '../../core/limits.ts'
import type { Log } from '../../core/log.ts'
import type { Cursors } from './cursor.ts'
import { CursorFrames, type SentCursor } from './cursor-frames.ts'
import type { GatewayEvent, LoggedRow } from './event.ts'
import type { Hub, Progress, RevokedScope } from './hub.ts'
import { parseFirst } from './first-message.ts'
import { SocketCloser } from './socket-closer.ts'
import { type SocketAuth, type SocketHolder, isMeant } from './socket-holder.ts'
import { operatorTopic, ownTopic, tenantTopic, topicOf } from './topics.ts'
import { TenantSockets } from './tenant-sockets.ts'
import { WaitingSockets } from './waiting-sockets.ts'

/** The state of a socket. */
export interface SocketData extends SocketHolder {
  address: string
  /** `new`: no message yet; `checking`: its credential is being checked. */
  state: 'new' | 'checking' | 'authenticated'
  cursor: SentCursor
  /** Pings since the last frame of the client. A count, because time passes without pings while a machine sleeps. */
  unanswered: number
  /** Frames of the client since the last ping. */
  frames: number
  cancelDeadline: () => void
  /** Revocations that came while its credential was checked. The check may have read the database before them. */
  missed: RevokedScope[]
}

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
/** The client may connect again at once: another gateway takes over. Source: IANA WebSocket Close Code Number Registry. */
const SERVICE_RESTART = 1012
const TRY_AGAIN_LATER = 1013
const PING = JSON.stringify({ type: 'ping' })

/**
 * The WebSockets. A socket authenticates with its first message, then gets its app's `sms_status` and `sms_delivery` and its
 * tenant's `sms_inbound` and `opt_out` events through Bun's topics. Later messages of clients are ignored.
 */
export class Sockets {
  readonly #sockets = new Set<Socket>()
  readonly #waiting = new WaitingSockets<Socket>()
  readonly #authenticated = new TenantSockets<Socket>()
  readonly #closer: SocketCloser
  #server: Server<SocketData> | null = null
  #cancelPing: () => void = () => undefined
  #endListening: () => void = () => undefined
  readonly #cursors: CursorFrames

  constructor(readonly context: SocketsContext) {
    this.#closer = new SocketCloser(context.clock)
    this.#cursors = new CursorFrames({ ...context, sockets: this.#authenticated })
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
    ping: (socket) => this.#heard(socket),
    pong: (socket) => this.#heard(socket),
    close: (socket) => this.#closed(socket),
  }

  start(server: Server<SocketData>): void {
    this.#server = server
    this.#planPing()
  }

  /** The data of a new socket. */
  newData(address: string): SocketData {
    return {
      address,
      state: 'new',
      appId: '',
      tenantId: '',
      session: null,
      cursor: { seq: Infinity, at: 0 },
      unanswered: 0,
      frames: 0,
      cancelDeadline: () => undefined,
      missed: [],
    }
  }

  /** Closes every socket, for a stop of the server. `isHandover`: another gateway takes over. */
  closeAll(isHandover: boolean): void {
    this.#cancelPing()
    const code = isHandover ? SERVICE_RESTART : GOING_AWAY
    for (const socket of this.#sockets) socket.close(code, 'Server is stopping')
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
    if (oldest !== null) this.#closer.evict(oldest)
    socket.data.cancelDeadline = this.context.clock.after(WS_AUTH_DEADLINE_MS, () => {
      if (socket.data.state !== 'authenticated') this.#closer.fail(socket, 'Send auth first')
    })
  }

  /** Reads the first message and ignores all others. */
  async #received(socket: Socket, raw: string | Buffer): Promise<void> {
    const { data } = socket
    this.#heard(socket)
    if (data.state !== 'new') return
    data.state = 'checking'
    const message = parseFirst(raw)
    if (typeof message === 'string') return this.#closer.fail(socket, message)
    const checked = Promise.all([this.context.authenticate(message, data.address), this.context.hub.ready()])
    const [auth, progress] = await checked.catch(() => [null, null])
    if (socket.readyState !== WebSocket.OPEN) return
    // The storage failed, so the credential could not be checked.
    if (auth === null || progress === null) return this.#closer.close(socket, TRY_AGAIN_LATER, 'Try again later')
    if (!auth.ok) return this.#closer.fail(socket, auth.error)
    if (data.missed.some((scope) => isMeant(scope, auth))) return this.#closer.fail(socket, 'Invalid API key')
    // The contract has no text for too many sockets.
    if (this.#countOf(ownTopic(auth)) >= MAX_SOCKETS_PER_APP) return this.#closer.fail(socket, 'Invalid API key')
    this.#letIn(socket, auth, progress)
  }

  /** Notes a frame of the client, of any kind. */
  #heard(socket: Socket): void {
    const { data } = socket
    data.unanswered = 0
    data.frames++
    if (data.frames === WS_FRAMES_PER_PING + 1) this.#closer.close(socket, POLICY_VIOLATION, 'Too many messages')
  }

  #letIn(socket: Socket, auth: Extract<SocketAuth, { ok: true }>, progress: Progress): void {
    const { data } = socket
    this.#stopWaiting(socket)
    data.state = 'authenticated'
    data.appId = auth.appId
    data.tenantId = auth.tenantId
    data.session = auth.session
    this.#authenticated.add(socket)
    if (auth.session !== null) this.#endWith(socket, auth.session.expiresAt)
    socket.subscribe(ownTopic(auth))
    socket.subscribe(tenantTopic(auth.tenantId))
    socket.send('{"type":"auth_ok"}')
    this.#cursors.send([socket], progress)
  }

  /** Closes the socket when the operator's session expires. */
  #endWith(socket: Socket, expiresAt: number): void {
    const { clock } = this.context
    socket.data.cancelDeadline = clock.after(expiresAt - clock.now(), () =>
      this.#closer.fail(socket, 'Invalid API key'),
    )
  }

  #closed(socket: Socket): void {
    this.#sockets.delete(socket)
    this.#authenticated.delete(socket)
    if (this.#sockets.size === 0) this.#endListening()
    this.#stopWaiting(socket)
  }

  #stopWaiting(socket: Socket): void {
    socket.data.cancelDeadline()
    this.#waiting.delete(socket)
  }

  #countOf(topic: string): number {
    return this.#server?.subscriberCount(topic) ?? 0
  }

  #publish(event: GatewayEvent, { seq }: LoggedRow): void {
    const { tenantId } = event
    if (this.#authenticated.of(tenantId).size === 0) return
    const frame = JSON.stringify(event)
    this.#authenticated.makeRoom(tenantId, frame.length)
    this.#server?.publish(topicOf(event), frame)
    if ('appId' in event) this.#server?.publish(operatorTopic(tenantId), frame)
    this.#cursors.note(tenantId, seq)
  }

  #revoke(scope: RevokedScope): void {
    for (const socket of this.#sockets) {
      const { data } = socket
      if (data.state === 'checking') data.missed.push(scope)
      if (data.state === 'authenticated' && isMeant(scope, data)) this.#closer.fail(socket, 'Invalid API key')
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
