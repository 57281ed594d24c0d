import type { Gateway } from '../../messages/gateway.ts'
import type { Condition, ConditionSource } from './condition.ts'

/** After the machine has slept, the next answer shows that the clock is right. */
const HOLD_MS = 60_000

/** This machine's clock differs from the provider's, or from that of the storage with the lease. */
export const clockWrong: ConditionSource = {
  alert: 'clock_wrong',
  check: 'clock',
  find: async (gateway) => [...ofProvider(gateway), ...ofStorage(gateway)],
}

function ofProvider({ clockCheck }: Gateway): Condition[] {
  const fault = clockCheck.describe()
  if (fault === null) return []
  return [
    {
      ...fault,
      subject: 'provider',
      overText: `Resolved: this machine's clock agrees with the provider's.`,
      detail: { aheadSeconds: Math.round((clockCheck.aheadMs ?? 0) / 1000) },
      holdMs: HOLD_MS,
    },
  ]
}

function ofStorage({ lease }: Gateway): Condition[] {
  const difference = lease?.clockDifference() ?? null
  if (difference === null) return []
  return [
    {
      ...saidOfStorageClock(difference),
      subject: 'storage',
      check: 'lease',
      overText: `Resolved: this machine's clock agrees with the storage's.`,
      detail: {},
      holdMs: HOLD_MS,
    },
  ]
}

/** `difference`: such as `70 s behind the storage's`. */
export const saidOfStorageClock = (difference: string): Pick<Condition, 'what' | 'fix'> => ({
  what: `This machine's clock is ${difference}`,
  fix: 'Set the clock with NTP.',
})
