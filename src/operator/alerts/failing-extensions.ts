import { isoTime } from '../../core/clock.ts'
import type { Gateway } from '../../messages/gateway.ts'
import { readMaybeFailing } from '../../messages/gateway-state/extensions.ts'
import { PAUSED, type Trouble, troublesOf } from '../../messages/upkeep/extension-trouble.ts'
import { type ExtensionKey, nameOf } from '../../provider/extension-rows.ts'
import type { AlertCondition, CheckHistory } from './condition.ts'

/** Most of what keeps an extension from its work ends by itself within this time. */
const HOLD_MS = 15 * 60_000
/** After a start the provider is asked again within this time for all that it has refused. */
const UNKNOWN_MS = 5 * 60_000
/** An outage may affect thousands, which would fill the state and the chat, and one tenant must not hide the others. */
const MAX_OF_TENANT = 20
const MAX_CONDITIONS = 200

/**
 * Finds what has kept extensions from sending or receiving for 15 minutes, whether or not something waits; those that have failed for
 * longest first. `silent`: the names of those without a subscription. That is an alert of its own, as being revoked is.
 */
export async function findFailing(
  gateway: Gateway,
  silent: ReadonlySet<string>,
  { firing, ageMs }: CheckHistory,
): Promise<AlertCondition[]> {
  const failing = new Map(firing.filter(({ alert }) => alert === 'extension_failing').map((one) => [one.subject, one]))
  const found: AlertCondition[] = []
  for (const key of await readMaybeFailing(gateway, suspectsOf(gateway, [...failing.values()]))) {
    const before = failing.get(nameOf(key))
    const trouble = await troubleFor(gateway, key, silent.has(nameOf(key)), before !== undefined)
    if (trouble !== null) found.push(conditionOf(key, trouble))
    else if (before !== undefined && mayGoOn(gateway, key, before.detail['cause'], ageMs)) found.push(before)
  }
  return few(found.toSorted((one, other) => (one.since ?? 0) - (other.since ?? 0)))
}

/** A restart forgets what was refused, and for longer when a pause began. */
function mayGoOn({ quota }: Gateway, { extensionId }: ExtensionKey, cause: unknown, ageMs: number): boolean {
  const isPaused = PAUSED.some(
    ({ group }) => quota.pauseMs(extensionId, group) > 0 || quota.standingPause(extensionId, group) !== null,
  )
  return (cause === 'paused' && isPaused) || (cause !== 'refresh' && ageMs < UNKNOWN_MS)
}

/** The ids of extensions that may fail although their tokens are good. */
const suspectsOf = (
  { directory, quota, clock }: Gateway,
  failing: readonly Pick<AlertCondition, 'detail'>[],
): string[] => [
  ...directory.refusals.list(clock.now()).flatMap(({ extensionId }) => extensionId ?? []),
  ...quota.pausedExtensions(),
  ...failing.map(({ detail }) => String(detail['extensionId'])),
]

/** The trouble of an extension that has lasted, or that goes on; null if there is none. */
async function troubleFor(
  gateway: Gateway,
  key: ExtensionKey,
  isSilent: boolean,
  isFiring: boolean,
): Promise<Trouble | null> {
  const { directory, clock, providerState } = gateway
  const row = await directory.extension(key.tenantId, key.extensionId)
  if (row === null) return null
  const isToldAlready = ({ kind }: Trouble): boolean =>
    (isSilent && kind === 'subscription') ||
    // That is an alert about the provider, not one for each extension.
    (!isFiring && kind === 'refresh' && providerState.isInTrouble)
  const hasLasted = ({ since }: Trouble): boolean => isFiring || clock.now() - since >= HOLD_MS
  const troubles = troublesOf(gateway, row, null).filter(({ kind }) => kind !== 'revoked' && kind !== 'waits')
  return troubles.find((trouble) => !isToldAlready(trouble) && hasLasted(trouble)) ?? null
}

function conditionOf({ tenantId, extensionId }: ExtensionKey, { kind, reason, fix, since }: Trouble): AlertCondition {
  const name = titleOf({ tenantId, extensionId })
  return {
    alert: 'extension_failing',
    subject: nameOf({ tenantId, extensionId }),
    text: `${name} has not worked as it should since ${isoTime(since)}: ${inSentence(reason)}. ${fix}`,
    overText: `Resolved: ${name} works again, or is no longer in use.`,
    detail: { tenantId, extensionId, cause: kind, reason, fix },
    since,
  }
}

/** The extension as texts of alerts name it. */
export const titleOf = ({ tenantId, extensionId }: ExtensionKey): string => `Extension ${extensionId} of ${tenantId}`

const inSentence = (reason: string): string =>
  reason.startsWith('RingCentral') ? reason : reason.charAt(0).toLowerCase() + reason.slice(1)

function few(conditions: readonly AlertCondition[]): AlertCondition[] {
  const counts = new Map<unknown, number>()
  const ofFewTenants = conditions.filter(({ detail: { tenantId } }) => {
    const count = (counts.get(tenantId) ?? 0) + 1
    counts.set(tenantId, count)
    return count <= MAX_OF_TENANT
  })
  return ofFewTenants.slice(0, MAX_CONDITIONS)
}
