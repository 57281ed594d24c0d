import { z } from 'zod'
import { errorName } from '../../core/log.ts'
import { damageOf } from '../../db/gate.ts'
import { Fault } from './fault.ts'

/** The result of one check of `sgw doctor`. */
export const Finding = z
  .object({
    check: z.string(),
    ok: z.boolean().meta({ description: 'False only where `level` is `fail`' }),
    level: z.enum(['ok', 'warn', 'fail']),
    detail: z.string().meta({ description: 'What the check found; for a warning or a failure also the fix' }),
  })
  .meta({ id: 'Finding' })
export type Finding = z.infer<typeof Finding>

/** Runs one check. A `Fault` becomes a finding of its level; any other error means that the check itself failed. */
export async function findingOf(check: string, run: () => Promise<string> | string): Promise<Finding> {
  try {
    return finding(check, 'ok', await run())
  } catch (error) {
    return failedFinding(check, error)
  }
}

/** The finding of a check that has thrown `error`. */
export function failedFinding(check: string, error: unknown): Finding {
  if (error instanceof Fault) return finding(check, error.level, error.message)
  const damage = damageOf(error, 'file')
  return finding(check, 'fail', damage ?? `could not be checked (${errorName(error)})`)
}

export const finding = (check: string, level: Finding['level'], detail: string): Finding => ({
  check,
  ok: level !== 'fail',
  level,
  detail,
})
