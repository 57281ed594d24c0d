import { apiError } from './errors.ts'
import { empty, type Call, type Reply } from './http.ts'
import type { Fault } from './faults.ts'
import { takeNext } from './next-fault.ts'
import { playFault } from './play-fault.ts'
import { arrive } from './routes.ts'
import type { Answer } from './server.ts'
import type { AnswerWire } from './wire.ts'
import type { World } from './world.ts'

const CONTROL = /^\/control(\/|$)/

/** Answers every request: `control` answers those under `/control`, the simulated platform all others. */
export function answering(world: World, control: (call: Call) => Promise<Reply>): Answer {
  return (call, wire) => {
    const answered = CONTROL.test(call.path)
      ? control(call).then((reply) => wire.send(reply))
      : respond(world, call, wire)
    answered.catch((error: unknown) => wire.send(internalError(error)))
  }
}

/** Answers a request of the client, over HTTP or a socket, and records it. */
export async function respond(world: World, call: Call, wire: AnswerWire): Promise<void> {
  const at = world.clock.now()
  const startedAt = performance.now()
  const arrival = arrive(world, call)
  const extensionId = arrival.extensionId()
  const next = arrival.route === 'sms' || arrival.route === 'mms' ? takeNext(world) : null
  const fault = next?.fault ?? world.faults.draw(arrival.route ?? 'unknown', () => extensionId)
  const entry = { at, method: call.method, path: targetOf(call), route: arrival.route, extensionId }
  const status = await answer(world, wire, { at, fault, process: () => next?.process(arrival) ?? arrival.process() })
  const played = next?.name ?? fault?.kind ?? null
  world.log.add({ ...entry, status, fault: played })
  world.calls.add({
    at,
    durationMs: Math.round(performance.now() - startedAt),
    direction: 'out',
    route: arrival.route ?? 'unknown',
    method: call.method,
    path: entry.path,
    request: call,
    response: wire.sent ?? (status === null ? null : { ...empty(status) }),
    fault: played,
  })
}

interface Exchange {
  at: number
  fault: Fault | null
  process: () => Reply | Promise<Reply>
}

/** Returns the status that the client can read, or null if the connection is cut. */
async function answer(world: World, wire: AnswerWire, { at, fault, process }: Exchange): Promise<number | null> {
  const { clock, stopping } = world
  if (fault !== null)
    // A `late-accept` may be due after `stop`.
    return playFault(fault, { wire, clock, process: () => (stopping.signal.aborted ? empty(503) : process()) })
  const reply = await process()
  wire.send({ ...reply, headers: { Date: new Date(at).toUTCString(), ...reply.headers } })
  return reply.status
}

const targetOf = (call: Call): string => (call.query.size === 0 ? call.path : `${call.path}?${call.query}`)

/** The answer for a bug of the simulator itself. */
export function internalError(error: unknown): Reply {
  const message = error instanceof Error ? (error.stack ?? error.message) : String(error)
  return apiError(500, 'CMN-203', `Simulator failed: ${message}`)
}
