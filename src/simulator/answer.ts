import type { Answer } from './connection.ts'
import { apiError } from './errors.ts'
import { empty, type Call, type Reply } from './http.ts'
import { playFault } from './play-fault.ts'
import { arrive, type Arrival } from './routes.ts'
import type { Wire } from './wire.ts'
import type { World } from './world.ts'

const CONTROL = /^\/control(\/|$)/

/** Answers every request: `control` answers those under `/control`, the simulated platform all others. */
export function answering(world: World, control: (call: Call) => Promise<Reply>): Answer {
  return (call, wire) => {
    const answered = CONTROL.test(call.path)
      ? control(call).then((reply) => wire.send(reply))
      : serve(world, call, wire)
    answered.catch((error: unknown) => wire.send(internalError(error)))
  }
}

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

/** A `late-accept` may be due after `stop`. */
const processUnlessStopped = (world: World, arrival: Arrival): Reply | Promise<Reply> =>
  world.stopping.signal.aborted ? empty(503) : arrival.process()

const targetOf = (call: Call): string => (call.query.size === 0 ? call.path : `${call.path}?${call.query}`)

/** The answer for a bug of the simulator itself. */
function internalError(error: unknown): Reply {
  const message = error instanceof Error ? (error.stack ?? error.message) : String(error)
  return apiError(500, 'CMN-203', `Simulator failed: ${message}`)
}
