import { readMaybeUnable } from '../../messages/gateway-state/extensions.ts'
import type { Gateway } from '../../messages/gateway.ts'
import { whyUnableToSend } from '../../messages/upkeep/unable-to-send.ts'
import { type Condition, type ConditionSource, MAX_OF_SOURCE } from './condition.ts'
import { HOLD_MS, mayGoOn, suspectsOf } from './extension-failing.ts'

/** An active tenant has extensions, and none of them can send. A suspended tenant is not meant to send. */
export const noExtensionCanSend: ConditionSource = {
  alert: 'no_extension_can_send',
  check: 'sending',
  find: async (gateway) => {
    const found: Condition[] = []
    for (const tenantId of await readMaybeUnable(gateway, suspectsOf(gateway), MAX_OF_SOURCE))
      found.push(...(await conditionsOf(gateway, tenantId)))
    const known = new Set(found.map(({ subject }) => subject))
    return [...found, ...goingOn(gateway).filter(({ subject }) => !known.has(subject))]
  },
}

async function conditionsOf(gateway: Gateway, tenantId: string): Promise<Condition[]> {
  const rows = [...(await gateway.directory.tenant(tenantId)).extensions.values()]
  const whys = rows.flatMap((row) => {
    const why = whyUnableToSend(gateway, row)
    return why === undefined ? [] : [{ ...why, extensionId: row.extensionId, extensionNumber: row.extensionNumber }]
  })
  const last = whys.toSorted((one, other) => other.since - one.since)[0]
  if (last === undefined || whys.length < rows.length) return []
  const others = whys.length - 1
  const more = others === 0 ? '' : ` And ${others} more: sgw extensions list --tenant ${tenantId}.`
  return [
    {
      subject: tenantId,
      what: `No extension of ${tenantId} can send, so nothing goes out`,
      fix: `Extension ${last.extensionId}: ${last.reason}. ${last.fix}${more}`,
      overText: `Resolved: an extension of ${tenantId} can send again, or is no longer needed.`,
      detail: {
        tenantId,
        extensions: rows.length,
        extensionId: last.extensionId,
        ...(last.extensionNumber === null ? {} : { extensionNumber: last.extensionNumber }),
        reason: last.reason,
        cause: last.kind,
      },
      since: last.since,
      // Most troubles that end without help do so within this time.
      holdMs: whys.every(({ kind }) => kind === 'revoked') ? 0 : HOLD_MS,
    },
  ]
}

/** A restart forgets much of what the provider has refused: until that is known again, the earlier process's alert continues. */
const goingOn = (gateway: Gateway): readonly Condition[] =>
  gateway.alerts.firing.filter(
    (firing) =>
      firing.alert === 'no_extension_can_send' && firing.detail['cause'] !== 'revoked' && mayGoOn(gateway, firing),
  )
