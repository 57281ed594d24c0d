import { FROM_2, type World, type WorldOptions, createWorld, until } from './world.ts'

/** How the texts of messages begin that only made a world ready. */
export const WARM_UP = 'warm-up'

/** A world in which the next message begins with its commit, and that has none yet. */
export async function readyWorld(options: WorldOptions = {}): Promise<World> {
  const world = await createWorld(options)
  const { gate } = world.gateway.database
  const isThere = async (sql: string): Promise<boolean> => (await gate.execute(sql)).rows.length > 0
  // Until then the connection is still being set up, and what is known of the tenant is forgotten again.
  await until(() => isThere("SELECT 1 FROM subscriptions WHERE status = 'active'"))
  // The first ones may have to wait until their number is known.
  for (
    let number = 0;
    !(await isThere('SELECT 1 FROM messages WHERE first_attempt_extension_id IS NOT NULL'));
    number++
  )
    await world.untilStatus(await world.send({ from: FROM_2, body: `${WARM_UP} ${number}` }))
  for (const table of ['messages', 'send_attempts']) await gate.execute(`DELETE FROM ${table}`)
  await world.gateway.directory.tenant(world.tenantId)
  return world
}
