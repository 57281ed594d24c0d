import { isoTime } from '../../core/clock.ts'
import type { FiringAlert } from '../../core/firing-alert.ts'
import { readMaybeFailing } from '../../messages/gateway-state/extensions.ts'
import type { Gateway } from '../../messages/gateway.ts'
import { PAUSED, type Trouble, troublesOf } from '../../messages/upkeep/extension-trouble.ts'
import type { ExtensionRow } from '../../provider/directory.ts'
import { nameOf } from '../../provider/extension-rows.ts'
import { type Condition, type ConditionSource, MAX_OF_SOURCE, MAX_OF_TENANT } from './condition.ts'
import { conditionOfExtension, rowOf } from './extension-condition.ts'

/** Most troubles of an extension end without help within this time. */
export const HOLD_MS = 15 * 60_000
/** After a start, the gateway repeats everything that the provider has refused within this time. */
const UNKNOWN_MS = 5 * 60_000

/**
 * Something keeps an extension from sending or receiving, even if nothing is waiting. Each trouble is a condition, the most important first.
 */
export const extensionFailing: ConditionSource = {
  alert: 'extension_failing',
  check: 'extensions',
  find: async (gateway, round) => {
    const firing = gateway.alerts.firing.filter(({ alert }) => alert === 'extension_failing')
    const troubled = await round.troubled()
    const silent = new Set(troubled.filter(({ trouble }) => trouble === 'not_receiving').map(nameOf))
    const suspects = [...suspectsOf(gateway), ...firing.map(({ detail }) => String(detail['extensionId']))]
    const found: Condition[][] = []
    for (const { status, ...key } of await readMaybeFailing(gateway, suspects)) {
      const row = await rowOf(gateway, key, status)
      const now = row === null ? [] : conditionsOf(gateway, row, silent.has(nameOf(key)))
      const before = firing.find(({ subject }) => subject === nameOf(key))
      if (now.length > 0) found.push(now)
      else if (row !== null && before !== undefined && mayGoOn(gateway, before)) found.push([before])
    }
    return few(found.toSorted((one, other) => oldestOf(one) - oldestOf(other))).flat()
  },
}

const oldestOf = (conditions: readonly Condition[]): number => Math.min(...conditions.map(({ since = 0 }) => since))

/** The ids of extensions that may fail although their tokens are valid. */
export const suspectsOf = ({ directory, quota, clock }: Gateway): string[] => [
  ...directory.refusals.list(clock.now()).flatMap(({ extensionId }) => extensionId ?? []),
  ...quota.pausedExtensions(),
]

/** Troubles that other conditions report. */
const OF_THEIR_OWN: readonly Trouble['kind'][] = ['revoked', 'jwt_ends', 'session_ends', 'threads']

/** `isSilent`: it has no subscription, which is a separate condition. */
const conditionsOf = (gateway: Gateway, row: ExtensionRow, isSilent: boolean): Condition[] =>
  troublesOf(gateway, row, null)
    .filter(({ kind, step }) => !OF_THEIR_OWN.includes(kind) && !(isSilent && step === 'subscription'))
    .map((trouble) => conditionOf(gateway, row, trouble))

function conditionOf({ providerState }: Gateway, row: ExtensionRow, trouble: Trouble): Condition {
  const { kind, since } = trouble
  const state = `has not worked properly since ${isoTime(since)}`
  const condition = conditionOfExtension(row, trouble, state, 'works again, or is no longer in use')
  // One alert about the provider reports failing refreshes, instead of one for each extension. A requested pause ends on time.
  const isNoAlert = kind === 'waits' || (kind === 'refresh' && providerState.isInTrouble)
  return {
    ...condition,
    ...shownBy(trouble),
    detail: { ...condition.detail, cause: kind },
    holdMs: isNoAlert ? Infinity : HOLD_MS,
  }
}

/** The doctor's check and its level: some troubles end without help. */
function shownBy({ kind, step }: Trouble): Pick<Condition, 'check' | 'level'> {
  if (kind === 'refresh' || kind === 'unknown_numbers' || kind === 'paused') return { level: 'warn' }
  if (kind === 'campaign') return { check: 'numbers', level: 'warn' }
  if (step === 'subscription') return { check: 'subscriptions', level: 'warn' }
  return { check: 'authorization', level: kind === 'waits' ? 'warn' : 'fail' }
}

/** A restart forgets what was refused, and when a pause began. */
export function mayGoOn({ quota, clock, alerts }: Gateway, { detail: { cause, extensionId } }: FiringAlert): boolean {
  const id = String(extensionId)
  const isPaused = PAUSED.some(({ group }) => quota.pauseMs(id, group) > 0 || quota.standingPause(id, group) !== null)
  return (cause === 'paused' && isPaused) || (cause !== 'refresh' && clock.monotonic() - alerts.knownSince < UNKNOWN_MS)
}

/** The extensions that have failed for longest, a few of each tenant. */
function few(ofExtensions: readonly Condition[][]): Condition[][] {
  const counts = new Map<unknown, number>()
  const ofFewTenants = ofExtensions.filter(([first]) => {
    const tenantId = first?.detail['tenantId']
    const count = (counts.get(tenantId) ?? 0) + 1
    counts.set(tenantId, count)
    return count <= MAX_OF_TENANT
  })
  return ofFewTenants.slice(0, MAX_OF_SOURCE)
}
