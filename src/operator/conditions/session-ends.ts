import { readEndingSessions } from '../../messages/gateway-state/extensions.ts'
import { SESSION_WARNING_MS, endOfSession } from '../../messages/upkeep/extension-trouble.ts'
import { type Condition, type ConditionSource, MAX_OF_SOURCE } from './condition.ts'
import { conditionOfExtension } from './extension-condition.ts'

/** RingCentral will end the session of an extension that a person has connected, because its account limits sessions. */
export const sessionEnds: ConditionSource = {
  alert: 'session_ends',
  check: 'extensions',
  find: async (gateway) => {
    const found: Condition[] = []
    for (const key of await readEndingSessions(gateway, gateway.clock.now() + SESSION_WARNING_MS, MAX_OF_SOURCE)) {
      const row = await gateway.directory.extension(key.tenantId, key.extensionId)
      const [trouble] = row === null ? [] : endOfSession(gateway, row)
      if (trouble === undefined) continue
      const condition = conditionOfExtension(
        row ?? key,
        trouble,
        'must be authorized again',
        'was authorized again, or is no longer in use',
      )
      found.push({ ...condition, level: 'warn' })
    }
    return found
  },
}
