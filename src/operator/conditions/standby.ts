import { HOUR_MS } from '../../core/limits.ts'
import type { Condition, ConditionSource } from './condition.ts'

/** No standby would take over from this gateway. */
export const standbyMissing: ConditionSource = {
  alert: 'standby_missing',
  check: 'standby',
  find: async ({ lease }) => {
    const { difference = null, missingMs = 0 } = lease?.standbys ?? {}
    if (difference !== null || missingMs < HOUR_MS) return []
    return [
      {
        ...told(missingMs),
        level: 'warn',
        what: 'No standby has been seen for an hour, so no gateway takes over if this machine dies',
        fix: 'Start another gateway.',
      },
    ]
  },
}

/** Another gateway waits, but could not take over. */
export const standbyCannotTakeOver: ConditionSource = {
  alert: 'standby_cannot_take_over',
  check: 'standby',
  find: async ({ lease }) => {
    const { difference = null, missingMs = 0 } = lease?.standbys ?? {}
    if (difference === null) return []
    return [{ ...told(missingMs), what: difference, fix: 'Give it the same version and settings as this gateway.' }]
  },
}

const told = (missingMs: number): Pick<Condition, 'overText' | 'detail'> => ({
  overText: 'Resolved: another gateway would take over.',
  detail: { missingSeconds: Math.round(missingMs / 1000) },
})
