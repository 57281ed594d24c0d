import { type Trouble, troublesOf } from '../../messages/upkeep/extension-trouble.ts'
import type { Condition, ConditionSource } from './condition.ts'
import { conditionOfExtension, rowOf } from './extension-condition.ts'

/** A missing subscription is made again within seconds, unless something is in the way. */
const HOLD_MS = 60_000

/** An extension has no subscription, so what it receives comes late. */
export const extensionNotReceiving: ConditionSource = {
  alert: 'extension_not_receiving',
  check: 'subscriptions',
  find: async (gateway, round) => {
    const found: Condition[] = []
    for (const key of (await round.troubled()).filter(({ trouble }) => trouble === 'not_receiving')) {
      const row = await rowOf(gateway, key, 'active')
      const why = row === null ? undefined : troublesOf(gateway, row, gateway.clock.now()).find(isAboutReceiving)
      if (why === undefined) continue
      // Since when is not known.
      const { since: _, ...condition } = conditionOfExtension(
        key,
        why,
        'does not receive events',
        'receives events again, or is no longer in use',
      )
      found.push({ ...condition, level: 'warn', holdMs: HOLD_MS })
    }
    return found
  },
}

/** A refused subscription says why there is none. */
const isAboutReceiving = ({ kind, step }: Trouble): boolean => step === 'subscription' || kind === 'not_receiving'
