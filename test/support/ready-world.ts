import { FROM_2, type World, type WorldOptions, createWorld, until } from './world.ts'

/** How the texts of messages begin that only made a world ready. */
export const WARM_UP = 'warm-up'

/** A world without messages, in which the first attempt of the next message begins with its commit. */
export async function readyWorld(options: WorldOptions = {}): Promise<World> {
  const world = await createWorld(options)
  const { gate } = world.gateway.database
  // While the connection is being set up, what is known of the tenant is forgotten again.
  await until(async () => (await gate.execute("SELECT 1 FROM subscriptions WHERE status = 'active'")).rows.length > 0)
  await world.untilStatus(await world.send({ from: FROM_2, body: WARM_UP }))
  for (const table of ['messages', 'send_attempts']) await gate.execute(`DELETE FROM ${table}`)
  await world.gateway.directory.tenant(world.tenantId)
  return world
}
