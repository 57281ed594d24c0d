import type { Server, ServerWebSocket } from 'bun'
import type { ConnectionFault } from './socket-faults.ts'
import { SocketConnection } from './socket-connection.ts'
import { errorFrame } from './socket-frames.ts'
import { answerFrame } from './socket-requests.ts'
import type { Ticket } from './socket-tickets.ts'
import type { SocketSession } from './socket-session.ts'
import type { World } from './world.ts'

/** One upgraded socket. */
interface Upgraded {
  /** Null if it has none: then it is closed immediately. */
  ticket: Ticket | null
  recover: string | null
  fault: ConnectionFault | null
  open: { connection: SocketConnection; session: SocketSession } | null
}

/** The gateway closes a connection without a ticket with this code (github.com/ringclaw/openclaw-ringcentral, pull request 150). */
const NO_TICKET = 4400
/** The frame and code that the platform sends instead of `ConnectionDetails` are not documented. */
const REFUSED = 4401

const PATH = '/ws'

/**
 * Serves the WebSocket gateway (RingCentral developer guide, "Subscribing to events via WebSockets"), on a port of its own as on the
 * platform. Throws if the port is taken.
 */
export function startSocketServer(world: World, { hostname, port }: { hostname: string; port: number }): SocketServer {
  const server = Bun.serve<Upgraded>({
    hostname,
    port,
    fetch: (request, self) => upgrade(world, request, self),
    websocket: {
      data: {} as Upgraded,
      // The gateway sends its own pings, so that it knows when.
      sendPings: false,
      idleTimeout: 0,
      open: (socket) => greet(world, socket),
      message: (socket, data) => hear(world, socket, String(data)),
      pong: ({ data }) => data.open?.connection.notePong(),
      close: ({ data: { open } }) => {
        if (open !== null) world.sockets.disconnected(open.session, open.connection)
      },
    },
  })
  return {
    port: Number(server.port),
    stop() {
      world.sockets.stop()
      void server.stop(true)
    },
  }
}

export interface SocketServer {
  port: number
  /** Ends every connection and frees the port. */
  stop(): void
}

function upgrade(world: World, request: Request, server: Server<Upgraded>): Response | Promise<Response> | undefined {
  const { pathname, searchParams } = new URL(request.url)
  if (pathname !== PATH) return refused(404)
  const text = searchParams.get('access_token')
  const recover = searchParams.get('wsc')
  const ticket = text === null ? null : world.sockets.tickets.find(text)
  const extensionId = ticket ? String(ticket.session.extensionId) : ''
  const fault = world.socketFaults.draw(extensionId, recover !== null)
  const log = (status: number | null): void => {
    const entry = { at: world.clock.now(), method: 'GET', path: PATH, route: 'socket' }
    world.log.add({ ...entry, extensionId: extensionId === '' ? null : extensionId, status, fault })
  }
  const status = refusalOf(world, fault, ticket)
  log(status === 'hang' ? null : (status ?? 101))
  if (status === 'hang') return new Promise(() => undefined)
  if (status !== null) return refused(status)
  if (ticket) ticket.isUsed = true
  const data: Upgraded = { ticket: ticket ?? null, recover, fault, open: null }
  return server.upgrade(request, { data }) ? undefined : refused(400)
}

/** An unknown, expired or used ticket gets a 401. */
function refusalOf(
  { settings }: World,
  fault: ConnectionFault | null,
  ticket: Ticket | null | undefined,
): number | 'hang' | null {
  if (fault === 'hang') return 'hang'
  if (fault === 'refuse') return 503
  const isReused = ticket?.isUsed === true && settings.ticketReuse === 'refused'
  return fault === 'unauthorized' || ticket === undefined || isReused ? 401 : null
}

const refused = (status: number): Response => new Response(null, { status })

function greet(world: World, socket: ServerWebSocket<Upgraded>): void {
  const { ticket, recover, fault } = socket.data
  if (ticket === null) return socket.close(NO_TICKET)
  const connection = new SocketConnection(socket, world.clock, world.settings)
  ticket.connection?.close()
  ticket.connection = connection
  if (fault === 'error') return connection.close(errorFrame(503, 'CMN-201', 'Service Temporary Unavailable'), REFUSED)
  if (fault === 'early-event') connection.holdsAnswers = true
  const session = world.sockets.connect(connection, {
    owner: ticket.session,
    recover,
    isForgotten: fault === 'forget',
    isWithoutDetails: fault === 'no-details',
  })
  socket.data.open = { connection, session }
}

function hear(world: World, { data }: ServerWebSocket<Upgraded>, text: string): void {
  if (data.open === null || data.open.connection.isSilent) return
  void answerFrame(world, data.open, text)
}
