import type { Gateway } from '../../messages/gateway.ts'
import { type TroubledExtension, readTroubledExtensions } from '../../messages/gateway-state/extensions.ts'
import { troubleOf } from '../../messages/upkeep/extension-trouble.ts'
import { nameOf } from '../../provider/extension-rows.ts'
import { commandToConnect } from '../../provider/refresh-policy.ts'
import type { AlertCondition, AlertCheck } from './condition.ts'
import { findFailing, titleOf } from './failing-extensions.ts'

/** A missing subscription is made again within seconds, unless something is in the way. */
const NOT_RECEIVING_HOLD_MS = 60_000

export const extensionCheck = (gateway: Gateway): AlertCheck => ({
  names: ['extension_revoked', 'extension_not_receiving', 'extension_failing'],
  find: async (history) => {
    const troubled = await readTroubledExtensions(gateway)
    const revokedOnes = troubled.filter(({ trouble }) => trouble === 'revoked')
    const silent = troubled.filter(({ trouble }) => trouble === 'not_receiving')
    return [
      ...(await Promise.all(revokedOnes.map((ids) => revoked(gateway, ids)))),
      ...(await Promise.all(silent.map((ids) => notReceiving(gateway, ids)))),
      ...(await findFailing(gateway, new Set(silent.map(nameOf)), history)),
    ]
  },
})

type Ids = Omit<TroubledExtension, 'trouble'>

async function revoked({ directory }: Gateway, { tenantId, extensionId }: Ids): Promise<AlertCondition> {
  const jwt = (await directory.extension(tenantId, extensionId))?.jwt ?? null
  const how = jwt === null ? 'authorize it again with an invite link' : 'connect it again with another JWT'
  const name = titleOf({ tenantId, extensionId })
  return {
    alert: 'extension_revoked',
    subject: `${tenantId}/${extensionId}`,
    text: `${name} is revoked, so its messages fail: ${how} (${commandToConnect({ tenantId, jwt })}).`,
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
