import type { Gateway } from '../gateway.ts'

/** Returns a function that logs when the clock has become wrong, or right again, since its last call. */
export function watchClock({ clockCheck, log }: Pick<Gateway, 'clockCheck' | 'log'>): () => Promise<void> {
  let wasWrong = false
  return () => {
    const fault = clockCheck.describe()
    if (fault !== null && !wasWrong) log.error({ aheadMs: clockCheck.aheadMs }, fault)
    if (fault === null && wasWrong) log.info({}, 'the clock agrees with the provider again')
    wasWrong = fault !== null
    return Promise.resolve()
  }
}
