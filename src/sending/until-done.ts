import { sleep } from '../core/clock.ts'
import { RETRY_AFTER_FAULT_MS } from '../core/limits.ts'
import { errorName } from '../core/log.ts'
import { isConstraint } from '../db/gate.ts'
import type { SendingContext } from './context.ts'

/** Repeats work on the database until it is done, and logs each failure as `problem`. Throws only for a violated constraint. */
export async function untilDone<T>(
  { clock, log }: Pick<SendingContext, 'clock' | 'log'>,
  problem: string,
  work: () => Promise<T>,
): Promise<T> {
  for (;;) {
    try {
      return await work()
    } catch (error) {
      if (isConstraint(error)) throw error
      log.error({ error: errorName(error) }, `${problem}, trying again`)
      await sleep(clock, RETRY_AFTER_FAULT_MS)
    }
  }
}
