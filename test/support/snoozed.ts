import type { LoopKindName } from '../../src/messages/jobs/job.ts'
import { type World, until } from './world.ts'

/** Waits until a job of this kind is due later than now. Then a manual clock may be advanced. */
export const untilSnoozed = (world: World, kind: LoopKindName): Promise<true> => until(() => isSnoozed(world, kind))

/** Whether a job of this kind is due later than now, so that it does not run. */
export async function isSnoozed({ gateway }: World, kind: LoopKindName): Promise<boolean> {
  const sql = 'SELECT 1 FROM jobs WHERE kind = ?1 AND due_at > ?2'
  return (await gateway.database.gate.execute({ sql, args: [kind, gateway.clock.steady()] })).rows.length > 0
}
