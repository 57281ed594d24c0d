import type { World } from './world.ts'

/** A cursor that continues after a row of the event log. Clients cannot make one. */
export async function cursorAt(world: World, seq: number): Promise<string> {
  const { events } = world.gateway
  const { cursor } = await events.page({ tenantId: world.tenantId, appId: world.app.appId }, undefined, 1)
  const { cursors } = events.context
  return cursors.encode(cursors.decode(cursor)?.epoch ?? '', { seq, returned: 0 })
}
