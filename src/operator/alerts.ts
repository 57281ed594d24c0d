import { isoTime } from '../core/clock.ts'
import type { Config } from '../core/config.ts'
import type { Gateway } from '../messages/gateway.ts'
import type { Alerts } from './schemas.ts'

/** Says in the doctor whether anybody is told. */
export const checkAlertSetting = ({ alertUrl }: Config): string =>
  alertUrl === null
    ? 'off: set ALERT_URL, and a chat or pager is told what needs a person (docs/alerts.md); sgw status shows it, too'
    : 'posted to ALERT_URL; sgw doctor --alert posts a test'

/** What needs a person now. */
export function listAlerts({ alerts }: Gateway): Alerts {
  return {
    alerts: alerts.firing.map(({ alert, text, since, detail }) => {
      const { tenantId } = detail
      return { alert, text, since: isoTime(since), ...(typeof tenantId === 'string' ? { tenantId } : {}), detail }
    }),
  }
}
