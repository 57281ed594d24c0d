import { Connection } from './connection.ts'
import { apiError } from './errors.ts'
import { empty, type Call, type Reply } from './http.ts'
import { playFault } from './play-fault.ts'
import { arrive, type Arrival } from './routes.ts'
import type { Wire } from './wire.ts'
import type { World } from './world.ts'

/**
 * The listening side: HTTP/1.1 of our own over `Bun.listen`, because a fault needs the socket in its hands, to reset
 * it, close it, or write half an answer. `Bun.serve` does not hand it out. `node:http` does, at twice the price.
 * Measured with Bun 1.4.4, server and client on one core each, CPU time of the server: a trivial answer took 18 µs with
 * `Bun.serve`, 38 µs with `node:http`, 19 µs with a sketch of this; an accepted SMS, on a machine with other work,
 * 99–139 µs over `node:http` and 48–87 µs over this.
 */
export function listen(world: World, options: ListenOptions): Listener {
  const { hostname, port, control } = options
  const answer = (call: Call, wire: Wire): void => {
    const answered = CONTROL.test(call.path)
      ? control(call).then((reply) => wire.send(reply))
      : serve(world, call, wire)
    answered.catch((error: unknown) => wire.send(internalError(error)))
  }
  const listener = Bun.listen<Connection>({
    hostname,
    port,
    socket: {
      open(socket) {
        socket.data = new Connection(socket, answer)
      },
      data: (socket, chunk) => socket.data.data(chunk),
      drain: (socket) => socket.data.drain(),
      close: (socket) => socket.data.closed(),
      error: (socket) => socket.data.closed(),
    },
  })
  world.url = `http://${dialable(hostname)}:${listener.port}`
  return { stop: () => listener.stop(true) }
}

export interface ListenOptions {
  hostname: string
  port: number
  /** Answers requests under `/control`. */
  control: (call: Call) => Promise<Reply>
}

export interface Listener {
  /** Frees the port and cuts every connection. */
  stop(): void
}

/** The address as part of a URL; one that means "everywhere" cannot be dialled everywhere. */
function dialable(hostname: string): string {
  if (hostname === '0.0.0.0' || hostname === '::') return '127.0.0.1'
  return hostname.includes(':') ? `[${hostname}]` : hostname
}

const CONTROL = /^\/control(\/|$)/

async function serve(world: World, call: Call, wire: Wire): Promise<void> {
  const at = world.clock.now()
  const arrival = arrive(world, call)
  const extensionId = arrival.extensionId()
  const fault = world.faults.draw(arrival.route ?? 'unknown', () => extensionId)
  const entry = { at, method: call.method, path: targetOf(call), route: arrival.route, extensionId }
  if (fault === null) {
    const reply = await arrival.process()
    wire.send({ ...reply, headers: { Date: new Date(at).toUTCString(), ...reply.headers } })
    world.log.add({ ...entry, status: reply.status, fault: null })
    return
  }
  const status = await playFault(fault, {
    wire,
    clock: world.clock,
    process: () => processUnlessStopped(world, arrival),
  })
  world.log.add({ ...entry, status, fault: fault.kind })
}

/** A late accept may come due after `stop`. */
const processUnlessStopped = (world: World, arrival: Arrival): Reply | Promise<Reply> =>
  world.stopping.signal.aborted ? empty(503) : arrival.process()

const targetOf = (call: Call): string => (call.query.size === 0 ? call.path : `${call.path}?${call.query}`)

/** A fault of the simulator itself: say so plainly. */
function internalError(error: unknown): Reply {
  const message = error instanceof Error ? (error.stack ?? error.message) : String(error)
  return apiError(500, 'CMN-203', `Simulator failed: ${message}`)
}
