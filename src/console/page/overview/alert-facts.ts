import type { Overview } from '../../../client/client.ts'
import type { Fact, Rank } from '../facts/fact.ts'
import type { IconName } from '../parts/icon-paths.ts'
import { duration } from '../state/clock.ts'
import type { Alert } from './machine.ts'

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
 * What the alerts say besides the facts of the tenant that is shown: other tenants, each by its name, and the gateway itself. A
 * wait of this tenant explains an old queue, and a provider that does not answer, in figures. An old queue of this tenant is told by its
 * figures, which lead to the messages. `now` in milliseconds.
 */
export function alertFacts(
  alerts: readonly Alert[],
  tenantId: string | null,
  own: readonly Fact[],
  overview: Overview,
  now: number,
): Fact[] {
  const explained = own.some(({ key }) => key === 'waiting') ? ['queue_old', 'provider_unreachable'] : []
  return alerts.flatMap((alert, index) => {
    const isOwn = alert.tenantId === undefined || alert.tenantId === tenantId
    if (isOwn && explained.includes(alert.alert)) return []
    if (isOwn && alert.alert === 'queue_old') return oldQueueFact(overview, now)
    return alert.tenantId === undefined || !isOwn ? [factOf(alert, index, now)] : []
  })
}

/** Of this tenant, by its figures. They name no message, so the link opens all that wait. */
function oldQueueFact({ queued, scheduled, oldestQueuedAt }: Overview, now: number): Fact[] {
  if (queued <= scheduled || oldestQueuedAt === null) return []
  const waited = duration(now - Date.parse(oldestQueuedAt))
  return [
    {
      ...(KINDS['queue_old'] ?? OTHER),
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
    },
  ]
}

function factOf(alert: Alert, index: number, now: number): Fact {
  const [sentence, advice] = saidBy(alert, now)
  return {
    ...(KINDS[alert.alert] ?? OTHER),
    key: `alert ${alert.alert} ${index}`,
    parts: [sentence],
    advice,
    since: alert.since,
    action: { type: alert.tenantId === undefined ? 'show checks' : 'switch tenant' },
    count: 1,
  }
}

/** What to press on the page, where the alert's own words name a command of the terminal. */
const ADVICE: Readonly<Record<string, string>> = {
  queue_old: 'The tenant says what it waits for.',
  no_extension_can_send: 'Setup of the tenant says why.',
  extension_revoked: 'Authorize it again.',
  extension_not_receiving: 'Setup of the tenant says why.',
  extension_failing: 'Setup of the tenant says why.',
  jwt_ends: 'Setup of the tenant connects another one.',
  webhook_failing: 'Its attempts say why. When it answers again, they can be made once more.',
  webhooks_interrupted: 'The webhooks of each tenant show them. They can be made once more.',
}

/** What is wrong, without its full stop, and what to do. */
function saidBy({ alert, what, fix, since, tenantId, tenantName, detail }: Alert, now: number): [string, string] {
  const advice = ADVICE[alert] ?? fix
  const lag = detail['lagSeconds']
  if (alert === 'queue_old')
    return [`A message of ${tenantName ?? tenantId} has waited for ${duration(now - Date.parse(since))}`, advice]
  if (alert === 'backup_behind' && typeof lag === 'number')
    return [`The backup is ${duration(lag * 1000)} behind`, advice]
  return [tenantId === undefined ? what : what.replaceAll(tenantId, tenantName ?? tenantId), advice]
}
