import type { Gateway } from '../../messages/gateway.ts'
import { type TroubledExtension, readTroubledExtensions } from '../../messages/gateway-state/extensions.ts'
import { troubleOf } from '../../messages/upkeep/extension-trouble.ts'
import { nameOf } from '../../provider/extension-rows.ts'
import type { AlertCondition, AlertCheck } from './condition.ts'
import { findFailing, titleOf } from './failing-extensions.ts'

/** A missing subscription is made again within seconds, unless something is in the way. */
const NOT_RECEIVING_HOLD_MS = 60_000

export const extensionCheck = (gateway: Gateway): AlertCheck => ({
  names: ['extension_revoked', 'extension_not_receiving', 'extension_failing'],
  find: async (history) => {
    const troubled = await readTroubledExtensions(gateway)
    const silent = troubled.filter(({ trouble }) => trouble === 'not_receiving')
    return [
      ...troubled.filter(({ trouble }) => trouble === 'revoked').map(revoked),
      ...(await Promise.all(silent.map((ids) => notReceiving(gateway, ids)))),
      ...(await findFailing(gateway, new Set(silent.map(nameOf)), history)),
    ]
  },
})

type Ids = Omit<TroubledExtension, 'trouble'>

function revoked({ tenantId, extensionId }: Ids): AlertCondition {
  const name = titleOf({ tenantId, extensionId })
  return {
    alert: 'extension_revoked',
    subject: `${tenantId}/${extensionId}`,
    text: `${name} is revoked, so its messages fail: authorize it again with an invite link (sgw extensions invite --tenant ${tenantId}).`,
    overText: `Resolved: ${name} is no longer revoked, or no longer in use.`,
    detail: { tenantId, extensionId },
  }
}

async function notReceiving(gateway: Gateway, { tenantId, extensionId }: Ids): Promise<AlertCondition> {
  const { directory, clock } = gateway
  const known = await directory.extension(tenantId, extensionId)
  const trouble = known === null ? null : troubleOf(gateway, known, clock.now())
  const name = titleOf({ tenantId, extensionId })
  return {
    alert: 'extension_not_receiving',
    subject: `${tenantId}/${extensionId}`,
    text: `${name} does not receive events, so its messages come up to a minute late: ${trouble?.fix ?? 'see sgw doctor.'}`,
    overText: `Resolved: ${name} receives events again, or is no longer in use.`,
    detail: { tenantId, extensionId, reason: trouble?.reason ?? null, fix: trouble?.fix ?? null },
    holdMs: NOT_RECEIVING_HOLD_MS,
  }
}
