import { isoTime } from '../core/clock.ts'
import type { Gateway } from '../gateway.ts'
import type { Alerts } from './schemas.ts'

/** What needs a person now. */
export function listAlerts({ alerts }: Gateway): Alerts {
  return {
    alerts: alerts.firing.map(({ alert, text, since, detail }) => {
      const { tenantId } = detail
      return { alert, text, since: isoTime(since), ...(typeof tenantId === 'string' ? { tenantId } : {}), detail }
    }),
  }
}
