import { isoTime } from '../../core/clock.ts'
import type { JwtProblem } from '../../provider/configured-jwt.ts'
import type { Condition, ConditionSource } from './condition.ts'

/** A start presented RC_JWT without success. While the gateway waits to present it again, the alert of an earlier process continues. */
export const jwtRefused: ConditionSource = {
  alert: 'jwt_refused',
  check: 'authorization',
  find: async ({ configuredJwt: { state }, alerts }) => {
    if (state.kind === 'untried' || state.kind === 'waits')
      return alerts.firing.filter(({ alert }) => alert === 'jwt_refused')
    // A refused client is a separate condition.
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

/** Why RC_JWT has connected no extension, and when it is presented again, if ever. */
export function saidOfJwt({ variable, tenantId, codes, fix, nextAt }: JwtProblem): Pick<Condition, 'what' | 'fix'> {
  const of = tenantId === null ? '' : ` of ${tenantId}`
  const again = nextAt === null ? '' : ` The gateway presents it again at ${isoTime(nextAt)}.`
  return { what: `${variable} connects no extension${of}${codes === '' ? '' : ` (${codes})`}`, fix: `${fix}${again}` }
}
