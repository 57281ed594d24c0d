import type { Overview } from '../../../client/client.ts'
import type { IconName } from '../parts/icon-paths.ts'
import { duration } from '../state/clock.ts'
import type { Alert } from '../state/alert.ts'
import { type Fact, type Rank, isMuted } from './fact.ts'
import { NONE_CAN_SEND, TOLD_BY_WAITING, WAITING } from './facts-of.ts'

type Kind = Pick<Fact, 'rank' | 'kind' | 'icon'>
const kindOf = (rank: Rank, kind: Fact['kind'], icon: IconName): Kind => ({ rank, kind, icon })

const KINDS: Readonly<Record<string, Kind>> = {
  storage_failing: kindOf('stopped', 'bad', 'failed'),
  encryption_key_missing: kindOf('stopped', 'bad', 'failed'),
  provider_credentials: kindOf('stopped', 'bad', 'failed'),
  no_extension_can_send: kindOf('stopped', 'bad', 'failed'),
  extension_revoked: kindOf('stopped', 'bad', 'failed'),
  provider_unreachable: kindOf('waits', 'warn', 'waiting'),
  queue_old: kindOf('waits', 'warn', 'waiting'),
  extension_not_receiving: kindOf('waits', 'warn', 'waiting'),
  extension_failing: kindOf('waits', 'warn', 'waiting'),
  jwt_ends: kindOf('waits', 'warn', 'waiting'),
  session_ends: kindOf('waits', 'warn', 'waiting'),
  webhook_failing: kindOf('webhooks', 'bad', 'webhook'),
  webhooks_interrupted: kindOf('webhooks', 'warn', 'webhook'),
}
const OTHER = kindOf('system', 'warn', 'queued')

/**
 * What the alerts say in addition to the facts of the shown tenant: about the gateway itself, and about the tenant as such. The tenant's
 * figures, which lead to the messages, already show an old queue. `now` in milliseconds.
 */
export function alertFacts(alerts: readonly Alert[], own: readonly Fact[], overview: Overview, now: number): Fact[] {
  const hasWaiting = own.some(({ key }) => key === WAITING)
  const isStoppedTold = own.some((fact) => fact.rank === 'stopped' && !isMuted(fact))
  return alerts.flatMap((alert) => {
    if (alert.alert === NONE_CAN_SEND) return isStoppedTold ? [] : [noneCanSend(alert)]
    if (alert.subject !== GATEWAY || (hasWaiting && TOLD_BY_WAITING.includes(alert.alert))) return []
    return alert.alert === 'queue_old' ? oldQueueFact(alert, overview, now) : [gatewayFact(alert)]
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
function oldQueueFact(alert: Alert, { queued, scheduled, oldestQueuedAt }: Overview, now: number): Fact[] {
  if (queued <= scheduled || oldestQueuedAt === null) return []
  const waited = duration(now - Date.parse(oldestQueuedAt))
  return [
    {
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
    },
  ]
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

export const kindOfAlert = ({ alert }: Pick<Alert, 'alert'>): Kind => KINDS[alert] ?? OTHER

/** What to press on the page if the alert's own words name a terminal command. */
const ADVICE: Readonly<Record<string, string>> = {
  webhooks_interrupted: 'Each tenant’s webhooks list them. They can be delivered again.',
}

/** What is wrong, without its full stop. */
function saidBy({ alert, what, detail }: Alert): string {
  const lag = detail['lagSeconds']
  return alert === 'backup_behind' && typeof lag === 'number' ? `The backup is ${duration(lag * 1000)} behind` : what
}
