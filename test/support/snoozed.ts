import type { LoopKindName } from '../../src/messages/jobs/job.ts'
import { type World, until } from './world.ts'

/** Waits until a job of this kind is due later than now. Then a manual clock may be advanced. */
export function untilSnoozed({ gateway }: World, kind: LoopKindName): Promise<true> {
  const sql = 'SELECT 1 FROM jobs WHERE kind = ?1 AND due_at > ?2'
  const isSnoozed = async (): Promise<boolean> =>
    (await gateway.database.gate.execute({ sql, args: [kind, gateway.clock.steady()] })).rows.length > 0
  return until(isSnoozed)
}
