import { systemClock } from '../../core/clock.ts'
import type { RunOptions } from '../open-gateway.ts'
import { type RunningGateway, runGateway } from '../run.ts'
import type { Simulator } from '../../simulator/simulator.ts'
import { type AdvanceableClock, createAdvanceableClock } from './advanceable-clock.ts'
import { type DevelopmentApp, connectSimulator, prepareApp } from './prepare.ts'
import { simulateProvider } from './simulated-provider.ts'

export interface DevelopmentOptions extends RunOptions {
  /** The simulator delivers immediately and has no limits, and the clock can be moved forward. */
  isTest: boolean
}

/** A gateway for developers with the built-in simulator as its provider. */
export interface Development {
  running: RunningGateway
  app: DevelopmentApp
  /**
   * Moves the clocks of gateway and simulator forward, and resolves when the gateway can receive again: its subscription may have expired. Null
   * unless the gateway is for tests.
   */
  advance: ((ms: number) => Promise<void>) | null
  /** Loads the simulator and connects its extension. Messages wait for that. */
  connect(): Promise<Simulator>
  /** Ends every call between gateway and simulator. */
  stopSimulator(): Promise<void>
}

/** Starts a gateway. Its listener opens when its tenant, its app and the file with the app's key exist. Errors: `StartError`. */
export async function openDevelopment({ isTest, ...options }: DevelopmentOptions): Promise<Development> {
  const clock = isTest ? createAdvanceableClock() : null
  const provider = await simulateProvider(options.config)
  const prepared = Promise.withResolvers<DevelopmentApp>()
  try {
    const running = await runGateway({
      ...options,
      config: provider.config,
      clock: clock ?? systemClock,
      prepare: async (gateway) => prepared.resolve(await prepareApp(gateway)),
    })
    const app = await prepared.promise
    return {
      running,
      app,
      advance: clock === null ? null : (ms) => advance(clock, running, app, ms),
      async connect() {
        // The simulator is loaded after the listener is open, because loading it takes a tenth of the start.
        const simulator = await provider.start(running.gateway.clock, !isTest)
        await connectSimulator(running, simulator.control, app.tenantId, isTest)
        if (clock !== null)
          running.gateway.simulator = { ...simulator.control, advance: (ms) => advance(clock, running, app, ms) }
        return simulator
      },
      stopSimulator: () => provider.stop(),
    }
  } catch (error) {
    await provider.stop()
    throw error
  }
}

async function advance(
  clock: AdvanceableClock,
  { gateway }: RunningGateway,
  { tenantId }: DevelopmentApp,
  ms: number,
): Promise<void> {
  clock.advance(ms)
  const { extensions } = await gateway.directory.tenant(tenantId)
  await Promise.all(
    [...extensions.keys()].map((extensionId) => gateway.subscriptions.ensure({ tenantId, extensionId })),
  )
}
