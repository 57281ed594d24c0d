import { troubleOf } from '../../messages/upkeep/extension-trouble.ts'
import type { Condition, ConditionSource } from './condition.ts'
import { conditionOfExtension, rowOf } from './extension-condition.ts'

/** The provider no longer accepts an extension's authorization or its JWT. */
export const extensionRevoked: ConditionSource = {
  alert: 'extension_revoked',
  check: 'extensions',
  find: async (gateway, round) => {
    const found: Condition[] = []
    for (const key of (await round.troubled()).filter(({ trouble }) => trouble === 'revoked')) {
      const row = await rowOf(gateway, key, 'revoked')
      const why = row && troubleOf(gateway, row, null)
      if (row !== null && why !== null)
        found.push(
          conditionOfExtension(
            row,
            why,
            'is revoked, so its messages fail',
            'is no longer revoked, or no longer in use',
          ),
        )
    }
    return found
  },
}
