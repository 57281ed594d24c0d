import type { Clock } from '../../core/clock.ts'
import type { Config } from '../../core/config.ts'
import { reserveSimulator } from '../../simulator/reserve.ts'
import type { Simulator } from '../../simulator/simulator.ts'

/** The built-in simulator, used as the provider. */
export interface SimulatedProvider {
  /** The gateway's configuration, with the simulator's address. */
  config: Config
  /** Loads the simulator. Earlier requests wait for it. `limits`: it has the rate limits of the platform. */
  start(clock: Clock, limits?: boolean): Promise<Simulator>
  stop(): Promise<void>
}

/** Listens on a free port of 127.0.0.1, so that the gateway can start before the simulator is loaded. */
export async function simulateProvider(config: Config): Promise<SimulatedProvider> {
  const reserved = await reserveSimulator()
  const { clientId, clientSecret } = config.provider
  return {
    config: { ...config, provider: { ...config.provider, serverUrl: reserved.url } },
    start: (clock, limits = true) =>
      reserved.start({ clock, clientId, clientSecret, limits, environment: 'development' }),
    stop: () => reserved.stop(),
  }
}
