import { isoTime } from '../../core/clock.ts'
import type { JwtProblem } from '../../provider/configured-jwt.ts'
import type { Condition, ConditionSource } from './condition.ts'

/** A start has presented RC_JWT in vain. While it waits to be presented again, the alert of an earlier process goes on. */
export const jwtRefused: ConditionSource = {
  alert: 'jwt_refused',
  check: 'authorization',
  find: async ({ configuredJwt: { state }, alerts }) => {
    if (state.kind === 'untried' || state.kind === 'waits')
      return alerts.firing.filter(({ alert }) => alert === 'jwt_refused')
    // A refused client is a condition of its own.
    if (state.kind !== 'refused') return []
    const { variable, tenantId, codes, fix } = state
    return [
      {
        ...saidOfJwt(state),
        overText: `Resolved: ${variable} is accepted, or no longer needed.`,
        detail: { tenantId, reason: codes, fix },
      },
    ]
  },
}

/** Why RC_JWT has connected no extension, and when it is presented again, if it is. */
export function saidOfJwt({ variable, tenantId, codes, fix, nextAt }: JwtProblem): Pick<Condition, 'what' | 'fix'> {
  const of = tenantId === null ? '' : ` of ${tenantId}`
  const again = nextAt === null ? '' : ` The gateway presents it again at ${isoTime(nextAt)}.`
  return { what: `${variable} connects no extension${of}${codes === '' ? '' : ` (${codes})`}`, fix: `${fix}${again}` }
}
