import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { apiError } from './errors.ts'
import { empty, type Call, type Reply } from './http.ts'
import { playFault } from './play-fault.ts'
import { arrive, type Arrival } from './routes.ts'
import { createWire, type Wire } from './wire.ts'
import type { World } from './world.ts'

/**
 * The listening side. It stands on `node:http`, not `Bun.serve`, because only there a handler has the socket in its
 * hands and can reset it, close it, or write half an answer. Measured with Bun 1.4.4, trivial POST, server and client
 * on one core each: `Bun.serve` 36,600 requests/s (21 µs of CPU each), `node:http` 21,900 (44 µs). That is twice the
 * cost, and still twice what the benchmark asks for; an HTTP server of our own over raw sockets was as fast as
 * `Bun.serve`, but would be one more thing to get wrong.
 */
export async function listen(world: World, options: ListenOptions): Promise<Server> {
  const server = createServer((request, response) => receive(world, request, response, options.control))
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  server.once('error', reject)
  server.listen(options.port, options.hostname, resolve)
  await promise
  const { port } = server.address() as AddressInfo
  const host = options.hostname.includes(':') ? `[${options.hostname}]` : options.hostname
  world.url = `http://${host}:${port}`
  return server
}

export interface ListenOptions {
  hostname: string
  port: number
  /** Answers requests under `/control`. */
  control: (call: Call) => Promise<Reply>
}

const MAX_BODY_BYTES = 5_242_880
const CONTROL = /^\/control(\/|$)/

function receive(
  world: World,
  request: IncomingMessage,
  response: ServerResponse,
  control: ListenOptions['control'],
): void {
  const chunks: Buffer[] = []
  let bytes = 0
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes <= MAX_BODY_BYTES) chunks.push(chunk)
  })
  request.on('end', () => {
    const wire = createWire(request, response)
    if (bytes > MAX_BODY_BYTES) return wire.send(empty(413))
    const call = readCall(request, chunks)
    const answered = CONTROL.test(call.path) ? control(call).then((reply) => wire.send(reply)) : serve(world, call, wire)
    answered.catch((error: unknown) => wire.send(internalError(error)))
  })
}

function readCall(request: IncomingMessage, chunks: Buffer[]): Call {
  const target = request.url ?? '/'
  const mark = target.indexOf('?')
  return {
    method: request.method ?? 'GET',
    path: mark < 0 ? target : target.slice(0, mark),
    query: new URLSearchParams(mark < 0 ? '' : target.slice(mark + 1)),
    headers: request.headers,
    body: (chunks.length === 1 ? chunks[0] : Buffer.concat(chunks))?.toString('utf8') ?? '',
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
    wire.send(reply)
    world.log.add({ ...entry, status: reply.status, fault: null })
    return
  }
  const status = await playFault(fault, { wire, clock: world.clock, process: () => processUnlessStopped(world, arrival) })
  world.log.add({ ...entry, status, fault: fault.kind })
}

/** A late accept may come due after `stop`. */
const processUnlessStopped = (world: World, arrival: Arrival): Reply | Promise<Reply> =>
  world.stopped ? empty(503) : arrival.process()

const targetOf = (call: Call): string => (call.query.size === 0 ? call.path : `${call.path}?${call.query}`)

/** A fault of the simulator itself: say so plainly. */
function internalError(error: unknown): Reply {
  const message = error instanceof Error ? (error.stack ?? error.message) : String(error)
  return apiError(500, 'CMN-203', `Simulator failed: ${message}`)
}
