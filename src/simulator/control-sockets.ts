import type { ProviderChanges, SocketFaultKind } from '../core/provider-changes.ts'
import { checked, PerhapsOwnerShape, SocketFaultShape } from './arguments.ts'
import { appNeeds, apiError } from './errors.ts'
import type { EventFault } from './event-faults.ts'
import type { Fault } from './faults.ts'
import { absoluteTimeout, heartbeat, idleTimeout } from './socket-frames.ts'
import type { ConnectionFault } from './socket-faults.ts'
import type { SocketConnection } from './socket-connection.ts'
import type { OpenSocket } from './sockets.ts'
import type { World } from './world.ts'

/** The control knobs for sockets that bring events. */
export interface SocketKnobs extends Pick<ProviderChanges, 'faultSockets'> {
  /** The open sockets, oldest first. */
  sockets(filter?: { extensionId?: string }): SocketView[]
}

/** An open socket. */
export interface SocketView {
  extensionId: string
  /** The login that it belongs to. */
  sessionId: string
  /** Null before it has subscribed. */
  subscriptionId: string | null
  openedAt: number
  /** Whether the fault `silent` was set. */
  isSilent: boolean
}

export function socketKnobs(world: World): SocketKnobs {
  const { sockets, subscriptions } = world

  const view = ({ session: { token, owner }, connection }: OpenSocket): SocketView => ({
    extensionId: String(owner.extensionId),
    sessionId: owner.id,
    subscriptionId: subscriptions.all().find(({ socket }) => socket?.token === token)?.id ?? null,
    openedAt: connection.openedAt,
    isSilent: connection.isSilent,
  })

  return {
    sockets: (filter = {}) => sockets.open(checked(PerhapsOwnerShape, filter).extensionId).map(view),
    faultSockets(fault) {
      const { kind, calls = 1, ms = DELAY_MS, ...only } = checked(SocketFaultShape, fault)
      return { sockets: FAULTS[kind](world, { ...only, calls, ms }) }
    },
  }
}

const DELAY_MS = 1000
const HUGE_BYTES = 20_000_000

interface Wish {
  extensionId?: string
  calls: number | null
  ms: number
}

/** Returns how many open sockets the fault affected. */
type Play = (world: World, wish: Wish) => number

/** Happens immediately to the open sockets. */
const toOpen =
  (play: (connection: SocketConnection) => void): Play =>
  ({ sockets }, { extensionId }) => {
    const open = sockets.open(extensionId)
    for (const { connection } of open) play(connection)
    return open.length
  }

const toConnections =
  (kind: ConnectionFault): Play =>
  ({ socketFaults }, rule) => {
    socketFaults.add({ kind, ...rule })
    return 0
  }

const toCalls =
  (route: string, fault: Fault): Play =>
  ({ faults }, rule) => {
    faults.add({ route, fault, ...rule })
    return 0
  }

const toEvents =
  (kind: EventFault['kind']): Play =>
  ({ eventFaults }, rule) => {
    eventFaults.add({ kind, ...rule })
    return 0
  }

const noPermission = appNeeds('WebSocketsSubscription')
const limitExceeded = apiError(403, 'SUB-505', 'Subscriptions limit exceeded')

const FAULTS: Readonly<Record<SocketFaultKind, Play>> = {
  close: toOpen((connection) => connection.close()),
  cut: toOpen((connection) => connection.cut()),
  idle: toOpen((connection) => connection.close(idleTimeout())),
  absolute: toOpen((connection) => connection.close(absoluteTimeout())),
  silent: toOpen((connection) => {
    connection.isSilent = true
  }),
  heartbeat: toOpen((connection) => connection.send(heartbeat(crypto.randomUUID()))),
  'no-json': toOpen((connection) => connection.send('<html><body>503</body></html>')),
  huge: toOpen((connection) => connection.send(`[{"type":"ServerNotification"},"${'x'.repeat(HUGE_BYTES)}"]`)),
  'no-body': toOpen((connection) =>
    connection.send('[{"type":"ServerNotification","messageId":"2661273919712564939","status":200}]'),
  ),
  refuse: toConnections('refuse'),
  unauthorized: toConnections('unauthorized'),
  hang: toConnections('hang'),
  error: toConnections('error'),
  'no-details': toConnections('no-details'),
  forget: toConnections('forget'),
  'early-event': toConnections('early-event'),
  'ticket-401': toCalls('wstoken', { kind: 'respond', status: 401 }),
  'ticket-403': toCalls('wstoken', { kind: 'respond', ...noPermission }),
  'ticket-429': toCalls('wstoken', { kind: 'respond', status: 429 }),
  'ticket-503': toCalls('wstoken', { kind: 'respond', status: 503 }),
  'ticket-hang': toCalls('wstoken', { kind: 'hang' }),
  'no-subscription': toCalls('subscription-create', { kind: 'respond', ...limitExceeded }),
  drop: toEvents('drop'),
  delay: toEvents('delay'),
  duplicate: toEvents('duplicate'),
}
