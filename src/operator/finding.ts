import { errorName } from '../core/log.ts'
import { damageOf } from '../db/gate.ts'
import { Fault, type FaultLevel } from './fault.ts'

/** One line of `sgw doctor`. */
export interface Finding {
  check: string
  /** False only where `level` is `fail`. */
  ok: boolean
  level: 'ok' | FaultLevel
  /** What was seen; for a warning or a failure also its fix. */
  detail: string
}

/** Runs one check. A thrown `Fault` has its own level; any other error is a failure of the check itself. */
export async function findingOf(check: string, look: () => Promise<string> | string): Promise<Finding> {
  try {
    return finding(check, 'ok', await look())
  } catch (error) {
    if (error instanceof Fault) return finding(check, error.level, error.message)
    const damage = damageOf(error, 'file')
    return finding(check, 'fail', damage ?? `could not be checked (${errorName(error)})`)
  }
}

export const finding = (check: string, level: Finding['level'], detail: string): Finding => ({
  check,
  ok: level !== 'fail',
  level,
  detail,
})
