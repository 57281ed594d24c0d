import type { Server, ServerWebSocket, WebSocketHandler } from 'bun'
import type { Clock } from '../../core/clock.ts'
import { MAX_SOCKETS_PER_APP, WS_AUTH_DEADLINE_MS, WS_BACKLOG_BYTES, WS_FRAME_BYTES } from '../../core/limits.ts'
import type { Log } from '../../core/log.ts'
import type { Cursors } from './cursor.ts'
import { CursorFrames, type SentCursor } from './cursor-frames.ts'
import type { GatewayEvent, LoggedRow } from './event.ts'
import type { Hub, Progress, RevokedScope } from './hub.ts'
import { SocketCloser } from './socket-closer.ts'
import { type Heard, SocketPings } from './socket-pings.ts'
import { type SocketAuth, type SocketHolder, isMeant } from './socket-holder.ts'
import { TenantSockets } from './tenant-sockets.ts'
import { WaitingSockets } from './waiting-sockets.ts'

/** The state of a socket. */
export interface SocketData extends SocketHolder, Heard {
  address: string
  cursor: SentCursor
  cancelDeadline: () => void
  /** Revocations during the check of its credential. The check may have read the database before them. */
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

const GOING_AWAY = 1001
/** The client may reconnect immediately: another gateway takes over. Source: IANA WebSocket Close Code Number Registry. */
const SERVICE_RESTART = 1012
const TRY_AGAIN_LATER = 1013

/**
 * The WebSockets. A socket authenticates with its first message, then gets its app's `sms_status` and `sms_delivery` and its
 * tenant's `sms_inbound` and `opt_out` events through Bun's topics. Later messages of clients are ignored.
 */
export class Sockets {
  readonly #sockets = new Set<Socket>()
  readonly #waiting = new WaitingSockets<Socket>()
  readonly #authenticated = new TenantSockets<Socket>()
  readonly #closer: SocketCloser
  readonly #pings: SocketPings<Socket>
  #server: Server<SocketData> | null = null
  #endListening: () => void = () => undefined
  readonly #cursors: CursorFrames

  constructor(readonly context: SocketsContext) {
    this.#closer = new SocketCloser(context.clock)
    this.#pings = new SocketPings(context.clock, this.#closer, this.#sockets)
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
    ping: (socket) => this.#pings.heard(socket),
    pong: (socket) => this.#pings.heard(socket),
    close: (socket) => this.#closed(socket),
  }

  start(server: Server<SocketData>): void {
    this.#server = server
    this.#pings.start()
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

  /** Closes every socket when the server stops. `isHandover`: another gateway takes over. */
  closeAll(isHandover: boolean): void {
    this.#pings.stop()
    const code = isHandover ? SERVICE_RESTART : GOING_AWAY
    for (const socket of this.#sockets) socket.close(code, 'Server is stopping')
  }

  /** How many sockets are connected, authenticated or not. */
  get count(): number {
    return this.#sockets.size
  }

  /** Adds a socket. The first one subscribes to the hub: without a socket, no events need to be built. */
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
    this.#pings.heard(socket)
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
}

/** Parses the first message of a socket. Returns an object, or the contract's error text. */
function parseFirst(raw: string | Buffer): Record<string, unknown> | string {
  if (typeof raw !== 'string') return 'Invalid JSON'
  try {
    const message: unknown = JSON.parse(raw)
    const isAuth = typeof message === 'object' && message !== null && 'type' in message && message.type === 'auth'
    return isAuth ? { ...message } : 'Send auth first'
  } catch {
    return 'Invalid JSON'
  }
}

/** The topic of events for one app. */
const appTopic = (appId: string): string => `a:${appId}`
/** The topic of events for every app of a tenant. */
const tenantTopic = (tenantId: string): string => `t:${tenantId}`

/** The topic of one app's events that operators of the tenant hear too. */
const operatorTopic = (tenantId: string): string => `o:${tenantId}`

/** The topic of a socket's events that are not for every app of the tenant. An operator's socket has no app. */
const ownTopic = ({ appId, tenantId }: { appId: string; tenantId: string }): string =>
  appId === '' ? operatorTopic(tenantId) : appTopic(appId)

/** The topic of an event: the app that it names, otherwise all apps of the tenant. `GET /v1/events` follows the same rule. */
const topicOf = (event: GatewayEvent): string =>
  'appId' in event ? appTopic(event.appId) : tenantTopic(event.tenantId)
