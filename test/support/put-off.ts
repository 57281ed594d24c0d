import { type World, until } from './world.ts'

/** Waits until a job of this kind is stored that is due later: its time counts from then, so no clock may be moved on before. */
export function untilPutOff({ gateway }: World, kind: string): Promise<true> {
  const sql = 'SELECT 1 FROM jobs WHERE kind = ?1 AND run_at > ?2'
  const isThere = async (): Promise<boolean> =>
    (await gateway.database.gate.execute({ sql, args: [kind, gateway.clock.steady()] })).rows.length > 0
  return until(isThere)
}
