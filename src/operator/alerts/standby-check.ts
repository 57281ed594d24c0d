import { HOUR_MS } from '../../core/limits.ts'
import type { Gateway } from '../../messages/gateway.ts'
import type { AlertCondition } from './condition.ts'

const NOBODY =
  'No standby has been seen for an hour, so nobody takes over if this machine dies: start another gateway (docs/beyond-one-machine.md).'

/** Finds whether nobody would take over from this gateway, or somebody could not. */
export function findMissingStandby({ lease }: Pick<Gateway, 'lease'>): AlertCondition[] {
  const standbys = lease?.standbys() ?? null
  if (standbys === null) return []
  const { difference, missingMs } = standbys
  if (difference === null && missingMs < HOUR_MS) return []
  return [
    {
      alert: difference === null ? 'standby_missing' : 'standby_cannot_take_over',
      subject: 'standby',
      text: difference === null ? NOBODY : `${difference}.`,
      overText: 'Resolved: another gateway would take over.',
      detail: { missingSeconds: Math.round(missingMs / 1000) },
    },
  ]
}
