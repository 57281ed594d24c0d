import { apiError } from '../../core/errors.ts'
import type { Gateway } from '../../messages/gateway.ts'
import { ANSWER_MS } from '../stop.ts'

/** Stops this process so that a standby takes over at once. Returns its id. Errors: there is no standby. */
export function giveLease({ lease }: Pick<Gateway, 'lease'>): { pid: number } {
  if (lease === null) throw apiError('noStandby')
  setTimeout(() => lease.give(), ANSWER_MS)
  return { pid: process.pid }
}
