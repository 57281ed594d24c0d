import { silentLog } from '../../src/core/log.ts'
import { runGateway } from '../../src/server/run.ts'
import type { ManualClock } from './manual-clock.ts'
import { World } from './world.ts'

/** Stops the gateway of a world with an outside provider, and starts it again with its database. `between` runs while it is stopped. */
export async function restarted(
  world: World,
  clock: ManualClock,
  between: () => void = () => undefined,
): Promise<World> {
  await world.running.stop()
  between()
  const running = await runGateway({ config: world.gateway.config, log: silentLog, clock })
  return new World(running, world.control, world.folder, world.app, world.ownsFolder, world.simulator)
}
