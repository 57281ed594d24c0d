import { type ManualClock, manualClock } from './manual-clock.ts'
import { FROM_2, type World, type WorldOptions, createWorld, until } from './world.ts'

/** The beginning of the texts of messages that prepare a world. */
export const WARM_UP = 'warm-up'

/**
 * A world without waiting messages, in which the first attempt of the next message begins with its commit. Its time stands still unless the
 * test has a clock, so that no recurring work makes the gateway read the tenant again.
 */
export async function readyWorld(options: WorldOptions = {}): Promise<World> {
  const world = await createWorld({ clock: manualClock(), ...options })
  const { gate } = world.gateway.database
  // The back-fill of a new connection also makes it read the tenant again.
  await until(async () => (await gate.execute('SELECT 1 FROM jobs')).rows.length === 0)
  await world.untilStatus(await world.send({ from: FROM_2, body: WARM_UP }))
  for (const table of ['messages', 'send_attempts']) await gate.execute(`DELETE FROM ${table}`)
  await world.gateway.directory.tenant(world.tenantId)
  return world
}

/** A connected world one minute after its connection, so that the rate window of the extension is empty. */
export async function worldWithEmptyWindows(
  env: Record<string, string> = {},
): Promise<{ world: World; clock: ManualClock }> {
  const clock = manualClock()
  const world = await createWorld({ clock, env })
  clock.advance(60_000)
  return { world, clock }
}
