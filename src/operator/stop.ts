import { apiError } from '../core/errors.ts'
import type { Gateway } from '../messages/gateway.ts'

/** Long enough to send the answer before the socket closes. */
const ANSWER_MS = 20

/** Stops this process as SIGTERM does. Returns its id. */
export function stopServer(): { pid: number } {
  setTimeout(() => process.kill(process.pid, 'SIGTERM'), ANSWER_MS)
  return { pid: process.pid }
}

/** Stops this process so that a standby takes over immediately. Errors: there is no standby. */
export function giveLease({ lease }: Pick<Gateway, 'lease'>): { pid: number } {
  if (lease === null) throw apiError('noStandby')
  setTimeout(() => lease.give(), ANSWER_MS)
  return { pid: process.pid }
}
