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
  extension_revoked: kindOf('stopped', 'bad', 'failed'),
  provider_unreachable: kindOf('waits', 'warn', 'waiting'),
  queue_old: kindOf('waits', 'warn', 'waiting'),
  extension_not_receiving: kindOf('waits', 'warn', 'waiting'),
  webhook_failing: kindOf('webhooks', 'bad', 'webhook'),
}
const OTHER = kindOf('system', 'warn', 'queued')

/**
 * What the alerts say besides the facts of the tenant that is shown: other tenants, each by its name, and the gateway itself. A
 * wait of this tenant explains an old queue, and a provider that does not answer, in figures.
 */
export function alertFacts(alerts: readonly Alert[], tenantId: string | null, own: readonly Fact[]): Fact[] {
  const explained = own.some(({ key }) => key === 'waiting') ? ['queue_old', 'provider_unreachable'] : []
  return alerts
    .filter((alert) => alert.tenantId === undefined || alert.tenantId !== tenantId)
    .filter(({ alert }) => !explained.includes(alert))
    .map(factOf)
}

function factOf(alert: Alert, index: number): Fact {
  const [sentence, advice] = saidBy(alert)
  return {
    ...(KINDS[alert.alert] ?? OTHER),
    key: `alert ${alert.alert} ${index}`,
    parts: [sentence],
    advice,
    since: alert.since,
    action: alert.tenantId === undefined ? null : { type: 'switch tenant' },
    count: 1,
  }
}

/** These name what is wrong before the colon, and what to do after it. */
const WITH_ADVICE = /^(.+?): (?=see |check |authorize |sgw |the provider |RC_|make )(.+?)\.?$/

/** The alert's sentence without its full stop, and what to do. */
function saidBy({ alert, text, tenantId, tenantName, detail }: Alert): [sentence: string, advice: string] {
  const named = tenantId === undefined ? text : text.replaceAll(tenantId, tenantName ?? tenantId)
  const [, what = named.replace(/\.$/, ''), advice = ''] = WITH_ADVICE.exec(named) ?? []
  const lag = detail['lagSeconds']
  const said =
    alert === 'backup_behind' && typeof lag === 'number' ? `The backup is ${duration(lag * 1000)} behind` : what
  return [said, advice === '' ? '' : `${advice.charAt(0).toUpperCase()}${advice.slice(1)}.`]
}
