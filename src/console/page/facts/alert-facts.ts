import type { Overview } from '../../../client/client.ts'
import { duration } from '../state/clock.ts'
import type { Alert } from '../state/alert.ts'
import { type Fact, KINDS, type Kind, isMuted } from './fact.ts'
import { NONE_CAN_SEND, TOLD_BY_WAITING, WAITING } from './facts-of.ts'

const OF_ALERTS: Readonly<Record<string, Kind>> = {
  storage_failing: KINDS.stopped,
  encryption_key_missing: KINDS.stopped,
  provider_credentials: KINDS.stopped,
  no_extension_can_send: KINDS.stopped,
  extension_revoked: KINDS.stopped,
  provider_unreachable: KINDS.waits,
  queue_old: KINDS.waits,
  extension_not_receiving: KINDS.waits,
  extension_failing: KINDS.waits,
  jwt_ends: KINDS.waits,
  session_ends: KINDS.waits,
  webhook_failing: KINDS.webhooks,
  webhooks_interrupted: { ...KINDS.webhooks, kind: 'warn' },
}

const OTHER: Kind = { rank: 'system', kind: 'warn', icon: 'queued' }

/**
 * What the alerts say in addition to the facts of the shown tenant: about the gateway itself, and about the tenant as such. The tenant's
 * figures, which lead to the messages, already show an old queue. `now` in milliseconds.
 */
export function alertFacts(alerts: readonly Alert[], own: readonly Fact[], overview: Overview, now: number): Fact[] {
  const hasWaiting = own.some(({ key }) => key === WAITING)
  const isStoppedTold = own.some((fact) => fact.rank === 'stopped' && !isMuted(fact))
  return alerts.flatMap((alert) => {
    if (alert.alert === NONE_CAN_SEND) return isStoppedTold ? [] : noneCanSend(alert)
    if (alert.subject !== GATEWAY || (hasWaiting && TOLD_BY_WAITING.includes(alert.alert))) return []
    return (alert.alert === 'queue_old' ? oldQueueFact(alert, overview, now) : gatewayFact(alert)) ?? []
  })
}

/** This alert cannot be muted. The page shows it even when the alerts of all its extensions are muted. */
const noneCanSend = (alert: Alert): Fact => ({
  ...gatewayFact(alert),
  parts: ['None of the extensions can send'],
  advice: '',
  action: { type: 'link', text: 'Show extensions', view: 'numbers', params: {} },
})

/** The subject of an alert that is about nothing in particular. */
const GATEWAY = 'gateway'

/** About this tenant, from its figures. They name no message, so the link opens all waiting messages. */
function oldQueueFact(alert: Alert, { queued, scheduled, oldestQueuedAt }: Overview, now: number): Fact | null {
  if (queued <= scheduled || oldestQueuedAt === null) return null
  const waited = duration(now - Date.parse(oldestQueuedAt))
  return {
    ...kindOfAlert(alert),
    key: 'alert queue_old',
    parts: [
      {
        text: queued - scheduled === 1 ? 'One message' : 'The oldest message',
        view: 'messages',
        params: { state: 'waiting' },
      },
      ` has waited for ${waited}`,
    ],
    advice: '',
    since: oldestQueuedAt,
    action: null,
    count: queued - scheduled,
    alerts: [alert],
  }
}

/** An alert of the gateway itself. */
export function gatewayFact(alert: Alert): Fact {
  return {
    ...kindOfAlert(alert),
    key: `alert ${alert.alert}`,
    parts: [saidBy(alert)],
    advice: ADVICE[alert.alert] ?? alert.fix,
    since: alert.since,
    action: { type: 'show checks' },
    count: 1,
    alerts: [alert],
  }
}

export const kindOfAlert = ({ alert }: Pick<Alert, 'alert'>): Kind => OF_ALERTS[alert] ?? OTHER

/** What to press on the page if the alert's own words name a terminal command. */
const ADVICE: Readonly<Record<string, string>> = {
  webhooks_interrupted: 'Each tenant’s webhooks list them. They can be delivered again.',
}

/** What is wrong, without the final period. */
function saidBy({ alert, what, detail }: Alert): string {
  const lag = detail['lagSeconds']
  return alert === 'backup_behind' && typeof lag === 'number' ? `The backup is ${duration(lag * 1000)} behind` : what
}
