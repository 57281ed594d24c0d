import { errorName } from '../core/log.ts'
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
    return error instanceof Fault
      ? finding(check, error.level, error.message)
      : finding(check, 'fail', `could not be checked (${errorName(error)})`)
  }
}

export const finding = (check: string, level: Finding['level'], detail: string): Finding => ({
  check,
  ok: level !== 'fail',
  level,
  detail,
})
