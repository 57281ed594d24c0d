import type { Clock } from '../core/clock.ts'
import { answering } from './answer.ts'
import { controlOverHttp } from './control-routes.ts'
import type { RawCall } from './call-record.ts'
import { announceConsents } from './events.ts'
import { createControl, type SimulatorControl } from './control.ts'
import type { Message } from './messages.ts'
import { type Listener, startListening } from './server.ts'
import { startSocketServer } from './socket-server.ts'
import { createWorld } from './world.ts'

/**
 * Simulates RingCentral over real HTTP, for development and tests. It has the paths, bodies, errors, limits and webhooks of
 * the platform, so that clients cannot distinguish the two. It starts without extensions; `control.addExtension` adds one.
 *
 * The platform's state (tokens, rate windows, statuses, expiries, delayed events) follows `clock`. Durations on sockets
 * (hanging, dripping, the webhook's 3 s) are in real time.
 *
 * @throws when the environment is production, or the port is taken.
 * @example
 * const simulator = await startSimulator({ clock: systemClock, clientId: 'app', clientSecret: 'secret' })
 * simulator.control.addExtension({ name: 'Alice Smith', numbers: ['+16505550101'] })
 */
export async function startSimulator(options: SimulatorOptions): Promise<Simulator> {
  refuseProduction(options)
  const { hostname = '127.0.0.1', port = 0 } = options
  return simulate(await startListening({ hostname, port }), options)
}

/** Starts the simulator on an existing listener. Throws if the environment is production, or the port for sockets is taken. */
export function simulate(listener: Listener, options: SimulatorOptions): Simulator {
  refuseProduction(options)
  const { hostname = '127.0.0.1', socketPort = 0 } = options
  const world = createWorld({
    clock: options.clock,
    url: listener.url,
    client: { id: options.clientId, secret: options.clientSecret },
    allowHttpWebhooks: options.allowHttpWebhooks ?? true,
    limits: options.limits ?? true,
  })
  world.consents.changed = (accountId) => void announceConsents(world, accountId)
  const control = createControl(world)
  const sockets = startSocketServer(world, { hostname, port: socketPort })
  world.sockets.uri = `${listener.url.replace(/^http/, 'ws').replace(/:\d+$/, `:${sockets.port}`)}/ws`
  listener.serve(answering(world, (call) => controlOverHttp(control, call)))
  return {
    url: listener.url,
    control,
    onPhone: (ring) => void world.phones.add(ring),
    onCall: (hear) => void world.calls.listeners.add(hear),
    async stop() {
      world.stopping.abort()
      sockets.stop()
      listener.stop()
      await control.settled()
    },
  }
}

function refuseProduction({ environment }: SimulatorOptions): void {
  if (environment === 'production') throw new Error('The simulator refuses to run in production')
}

export interface SimulatorOptions {
  /** Default 127.0.0.1. */
  hostname?: string
  /** Default 0: any free port. */
  port?: number
  /** For the sockets that bring events. Default 0: any free port. */
  socketPort?: number
  clock: Clock
  clientId: string
  clientSecret: string
  /** Default true. */
  allowHttpWebhooks?: boolean
  /** Rate limits on; default true. */
  limits?: boolean
  /** `production` is refused. */
  environment?: string
}

export interface Simulator {
  /** Without a slash at the end. */
  url: string
  control: SimulatorControl
  /** Calls `ring` with each message that reaches the phone of its recipient, when the platform accepts it. */
  onPhone(ring: (message: Message) => void): void
  /** Calls `hear` with each call from and to the client as it was made, with its tokens. */
  onCall(hear: (call: RawCall) => void): void
  /** Closes every connection and cancels everything that is planned. */
  stop(): Promise<void>
}

export type { SimulatorControl } from './control.ts'
export type { Fault } from './faults.ts'
