import type { Overview } from '../../../client/client.ts'
import { traitsOf } from '../../../operator/conditions/traits.ts'
import { duration } from '../state/clock.ts'
import type { Alert, KnownAlert } from '../state/alert.ts'
import { type Fact, KINDS, type Kind, isMuted } from './fact.ts'
import { NONE_CAN_SEND, WAITING } from './facts-of.ts'

/** Adds what the console knows of its name. */
export function knownAlert(alert: Alert): KnownAlert {
  const traits = traitsOf(alert.alert)
  return { ...alert, traits, factKey: traits.toldBy === WAITING ? WAITING : alert.subject }
}

/** What the kinds of alerts look like. */
const OF_KINDS = {
  ...KINDS,
  interrupted: { ...KINDS.webhooks, kind: 'warn' },
  system: { rank: 'system', kind: 'warn', icon: 'queued' },
} as const satisfies Record<string, Kind>

/**
 * What the alerts say in addition to the facts of the shown tenant, which come from its figures. If no fact tells an alert, its own words do.
 * `now` in milliseconds.
 */
export function alertFacts(
  alerts: readonly KnownAlert[],
  own: readonly Fact[],
  overview: Overview,
  now: number,
): Fact[] {
  const told = own.flatMap(({ alerts: those = [] }) => those)
  const isStoppedTold = own.some((fact) => fact.rank === 'stopped' && !isMuted(fact))
  return alerts.flatMap((alert) => {
    if (alert.alert === NONE_CAN_SEND) return isStoppedTold ? [] : noneCanSend(alert)
    // Newer figures may deny what an alert says about an extension or a webhook.
    if ((alert.traits.toldBy ?? WAITING) !== WAITING || told.includes(alert)) return []
    return (alert.alert === 'queue_old' ? oldQueueFact(alert, overview, now) : gatewayFact(alert)) ?? []
  })
}

/** This alert cannot be muted. The page shows it even when the alerts of all its extensions are muted. */
const noneCanSend = (alert: KnownAlert): Fact => ({
  ...gatewayFact(alert),
  parts: ['None of the extensions can send'],
  advice: '',
  action: { type: 'link', text: 'Show extensions', view: 'numbers', params: {} },
})

/** About this tenant, from its figures. They name no message, so the link opens all waiting messages. */
function oldQueueFact(alert: KnownAlert, { queued, scheduled, oldestQueuedAt }: Overview, now: number): Fact | null {
  const count = queued - scheduled
  if (count <= 0 || oldestQueuedAt === null) return null
  const text = count === 1 ? 'One message' : 'The oldest message'
  return {
    ...gatewayFact(alert),
    parts: [
      { text, view: 'messages', params: { state: 'waiting' } },
      ` has waited for ${duration(now - Date.parse(oldestQueuedAt))}`,
    ],
    advice: '',
    since: oldestQueuedAt,
    action: null,
    count,
  }
}

/** An alert in its own words. */
export function gatewayFact(alert: KnownAlert): Fact {
  return {
    ...kindOfAlert(alert),
    key: `alert ${alert.alert} ${alert.subject}`,
    parts: [wordsOf(alert)],
    advice: ADVICE[alert.alert] ?? alert.fix,
    since: alert.since,
    action: { type: 'show checks' },
    count: 1,
    alerts: [alert],
  }
}

export const kindOfAlert = ({ traits }: KnownAlert): Kind => OF_KINDS[traits.kind ?? 'system']

/** What to press on the page if the alert's own words name a terminal command. */
const ADVICE: Readonly<Record<string, string>> = {
  webhooks_interrupted: 'Each tenant’s webhooks list them. They can be delivered again.',
}

/** What is wrong, without the final period, and with the tenant's name in place of its id. */
function wordsOf({ alert, what, detail, tenantId, tenantName }: KnownAlert): string {
  const lag = detail['lagSeconds']
  if (alert === 'backup_behind' && typeof lag === 'number') return `The backup is ${duration(lag * 1000)} behind`
  return tenantId && tenantName ? what.replaceAll(tenantId, tenantName) : what
}
