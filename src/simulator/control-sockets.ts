import type { SocketView } from './control-views.ts'
import { idleTimeout, absoluteTimeout, heartbeat } from './socket-frames.ts'
import {
  isNextSocketFault,
  isOpenSocketFault,
  type OpenSocketFault,
  SOCKET_FAULTS,
  type SocketFault,
} from './socket-faults.ts'
import type { SocketConnection } from './socket-connection.ts'
import type { OpenSocket } from './sockets.ts'
import type { World } from './world.ts'

/** The control knobs for sockets that bring events. */
export function socketKnobs(world: World) {
  const { sockets, socketFaults, subscriptions } = world

  function faultSockets({ kind, ...rest }: SocketFault): { sockets: number } {
    if (isNextSocketFault(kind)) socketFaults.add(kind, rest)
    else if (!isOpenSocketFault(kind))
      throw new Error(`Unknown fault ${String(kind)}: use one of ${SOCKET_FAULTS.join(', ')}`)
    else return { sockets: play(kind, sockets.open(rest.extensionId)) }
    return { sockets: 0 }
  }

  const view = ({ session: { token, owner }, connection }: OpenSocket): SocketView => ({
    extensionId: String(owner.extensionId),
    sessionId: owner.id,
    subscriptionId: subscriptions.all().find(({ socket }) => socket?.token === token)?.id ?? null,
    openedAt: connection.openedAt,
    isSilent: connection.isSilent,
  })

  return {
    sockets: ({ extensionId }: { extensionId?: string } = {}) => sockets.open(extensionId).map(view),
    faultSockets,
    clearSocketFaults: () => socketFaults.clear(),
  }
}

function play(kind: OpenSocketFault, open: OpenSocket[]): number {
  for (const { connection } of open) FAULTS[kind](connection)
  return open.length
}

const HUGE_BYTES = 20_000_000

const FAULTS: Readonly<Record<OpenSocketFault, (connection: SocketConnection) => void>> = {
  close: (connection) => connection.close(),
  cut: (connection) => connection.cut(),
  idle: (connection) => connection.close(idleTimeout()),
  absolute: (connection) => connection.close(absoluteTimeout()),
  silent(connection) {
    connection.isSilent = true
  },
  heartbeat: (connection) => connection.send(heartbeat(crypto.randomUUID())),
  'no-json': (connection) => connection.send('<html><body>503</body></html>'),
  huge: (connection) => connection.send(`[{"type":"ServerNotification"},"${'x'.repeat(HUGE_BYTES)}"]`),
  'no-body': (connection) => connection.send('[{"type":"ServerNotification","messageId":"1","status":200}]'),
}
