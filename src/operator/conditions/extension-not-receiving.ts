import { readMaybeFailing } from '../../messages/gateway-state/extensions.ts'
import type { Gateway } from '../../messages/gateway.ts'
import { type Trouble, troublesOf } from '../../messages/upkeep/extension-trouble.ts'
import type { ExtensionRow } from '../../provider/directory.ts'
import type { Condition, ConditionSource } from './condition.ts'
import { conditionOfExtension, rowOf } from './extension-condition.ts'

/** A missing subscription is recreated within seconds, unless something prevents it. */
const HOLD_MS = 60_000

/** An extension has no subscription, so its messages arrive late, or the texts to its numbers go where the gateway may not read them. */
export const extensionNotReceiving: ConditionSource = {
  alert: 'extension_not_receiving',
  check: 'subscriptions',
  find: async (gateway, round) => {
    const found: Condition[] = []
    for (const key of (await round.troubled()).filter(({ trouble }) => trouble === 'not_receiving')) {
      const row = await rowOf(gateway, key, 'active')
      if (row !== null)
        found.push(...conditionsOf(gateway, row, { isAbout: isAboutReceiving, state: 'does not receive events' }))
    }
    for (const { status, ...key } of await readMaybeFailing(gateway, withoutThreads(gateway))) {
      const row = status === 'active' ? await rowOf(gateway, key, 'active') : null
      if (row !== null)
        found.push(...conditionsOf(gateway, row, { isAbout: isAboutThreads, state: 'does not receive all texts' }))
    }
    return found
  },
}

/** The ids of extensions that may not read their message threads. */
const withoutThreads = ({ directory, clock }: Gateway): string[] =>
  directory.refusals
    .list(clock.now())
    .flatMap(({ step, extensionId }) => (step === 'threads' && extensionId !== null ? extensionId : []))

/** The first trouble of that kind; none if there is none. */
function conditionsOf(
  gateway: Gateway,
  row: ExtensionRow,
  { isAbout, state }: { isAbout: (trouble: Trouble) => boolean; state: string },
): Condition[] {
  const why = troublesOf(gateway, row, gateway.clock.now()).find(isAbout)
  if (why === undefined) return []
  // Its start is unknown.
  const { since: _, ...condition } = conditionOfExtension(row, why, state, 'receives again, or is no longer in use')
  return [{ ...condition, level: 'warn', holdMs: HOLD_MS }]
}

/** The refusal of the subscription says why there is none. */
const isAboutReceiving = ({ kind, step }: Trouble): boolean => step === 'subscription' || kind === 'not_receiving'

const isAboutThreads = ({ kind }: Pick<Trouble, 'kind'>): boolean => kind === 'threads'
