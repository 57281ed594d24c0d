import { DAY_MS } from '../../core/limits.ts'
import { readEndingJwts } from '../../messages/gateway-state/extensions.ts'
import { JWT_WARNING_MS, endOfJwt } from '../../messages/upkeep/extension-trouble.ts'
import { type Condition, type ConditionSource, MAX_OF_SOURCE } from './condition.ts'
import { conditionOfExtension } from './extension-condition.ts'

/** The doctor and the extension's health report it 14 days before. */
const ALERT_BEFORE_MS = 3 * DAY_MS

/** The JWT of an extension ends, or has ended while its session goes on. */
export const jwtEnds: ConditionSource = {
  alert: 'jwt_ends',
  check: 'extensions',
  find: async (gateway) => {
    const found: Condition[] = []
    for (const key of await readEndingJwts(gateway, gateway.clock.now() + JWT_WARNING_MS, MAX_OF_SOURCE)) {
      const row = await gateway.directory.extension(key.tenantId, key.extensionId)
      const [trouble] = row === null ? [] : endOfJwt(gateway, row)
      const end = row?.jwtExpiresAt ?? null
      if (trouble === undefined || end === null) continue
      const condition = conditionOfExtension(
        row ?? key,
        trouble,
        'needs a new JWT',
        'has a new JWT, or no longer needs one',
      )
      const holdMs = Math.max(0, end - ALERT_BEFORE_MS - trouble.since)
      found.push({ ...condition, level: 'warn', holdMs })
    }
    return found
  },
}
