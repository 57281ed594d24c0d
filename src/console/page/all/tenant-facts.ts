import type { Alert } from '../state/alert.ts'
import { gatewayFact, kindOfAlert } from '../facts/alert-facts.ts'
import type { Action, Fact, Part } from '../facts/fact.ts'
import { FEW, NONE_CAN_SEND, WAITING } from '../facts/facts-of.ts'
import type { Range } from '../overview/ranges.ts'
import { capital, count } from '../state/clock.ts'
import type { View } from '../state/view-names.ts'
import type { AllOverview, TenantFigures } from './all-overview.ts'

/** What is wrong with one tenant, or with the gateway itself. */
export interface AllFact extends Fact {
  tenantId?: string
  /** What is wrong, short enough for a narrow column, without a full stop. */
  short: string
}

export interface FactOptions {
  /** From the tenant's figures. */
  range: Range
  /** Whether links connect extensions. */
  hasLinks: boolean
}

/** Everything that is wrong, including muted alerts: with the gateway itself and with each tenant. */
export function factsOfAll({ alerts, tenants }: AllOverview, options: FactOptions): AllFact[] {
  const byTenant = Map.groupBy(alerts, ({ tenantId }) => tenantId)
  const own = (byTenant.get(undefined) ?? []).map(gatewayFact)
  return [
    ...own.map((fact) => ({ ...fact, short: '' })),
    ...tenants.flatMap((tenant) => factsOfTenant(tenant, byTenant.get(tenant.tenantId) ?? [], options)),
  ]
}

/** A tenant that an operator has deactivated has no trouble. */
function factsOfTenant(tenant: TenantFigures, alerts: readonly Alert[], options: FactOptions): AllFact[] {
  if (tenant.status === 'inactive') return []
  const named = Map.groupBy(alerts, ({ alert }) => alert)
  const of = (alert: string): Alert[] => named.get(alert) ?? []
  const isRevoked = of('extension_revoked').some(({ mutedUntil }) => mutedUntil === undefined)
  const others = [...named].filter(([alert]) => !COUNTED.includes(alert) && !(alert === NONE_CAN_SEND && isRevoked))
  return [
    ...others.map(([alert, those]) => alertFact(tenant, alert, those, options)),
    ...waitingFact(tenant, of('queue_old')),
    ...webhookFact(tenant, of('webhook_failing')),
    ...failureFact(tenant, options),
  ]
}

/** Alerts that the tenant's figures already show. */
const COUNTED: readonly string[] = ['queue_old', 'webhook_failing']

const base = { advice: '', since: null, action: null, count: 1 } as const

/** A fact about a tenant. Its key names the tenant, too. */
function factOf(
  { tenantId, name }: TenantFigures,
  {
    key,
    said,
    short = '',
    ...rest
  }: Omit<AllFact, 'parts' | 'tenantId' | 'short'> & { said: readonly Part[]; short?: string },
): AllFact {
  const whose: Part = { text: name, view: 'overview', params: { tenant: tenantId } }
  const text =
    short === ''
      ? said.map((part) => (typeof part === 'string' || 'number' in part ? part : part.text)).join('')
      : short
  return { ...rest, key: `${tenantId} ${key}`, tenantId, short: capital(text), parts: [whose, ': ', ...said] }
}

const link = (tenant: TenantFigures, text: string, view: View, params: Record<string, string> = {}): Action => ({
  type: 'link',
  text,
  view,
  params: { tenant: tenant.tenantId, ...params },
})

/** Alerts of one name, usually about extensions. */
function alertFact(tenant: TenantFigures, alert: string, alerts: readonly Alert[], { hasLinks }: FactOptions): AllFact {
  const [first] = alerts
  const extensions = alert === NONE_CAN_SEND ? [] : alerts.filter(({ detail }) => detail['extensionId'] !== undefined)
  const isOne = extensions.length === 1
  const shared = {
    ...base,
    ...kindOfAlert({ alert }),
    key: alert,
    since: oldestOf(alerts),
    alerts,
    count: alerts.length,
  }
  if (first === undefined || extensions.length === 0) {
    const said =
      alert === NONE_CAN_SEND
        ? 'none of its extensions can send'
        : (first?.what ?? alert).replaceAll(tenant.tenantId, tenant.name)
    return factOf(tenant, { ...shared, said: [said], action: link(tenant, 'Show extensions', 'numbers') })
  }
  const name = isOne ? `extension ${numberOf(first)}` : `${count(extensions.length)} extensions`
  const id = isOne ? String(first.detail['extensionId']) : ''
  const who: Part = { text: name, view: 'numbers', params: { tenant: tenant.tenantId, id } }
  const isRevoked = alert === 'extension_revoked'
  const isByJwt = alerts.some(({ fix }) => fix.includes('JWT'))
  return factOf(tenant, {
    ...shared,
    said: isRevoked ? [who, isOne ? ' was revoked' : ' were revoked'] : [who, `: ${reasonOf(first)}`],
    advice: isRevoked ? `Messages fail until ${isOne ? 'it is' : 'they are'} authorized again.` : '',
    action:
      isRevoked && isOne && !isByJwt && hasLinks
        ? { type: 'authorize', extension: name, tenantId: tenant.tenantId }
        : link(tenant, isOne ? 'Show extension' : 'Show extensions', 'numbers', { id }),
  })
}

const numberOf = ({ detail, subject }: Alert): string => String(detail['extensionNumber'] ?? subject)

function reasonOf({ what, detail }: Alert): string {
  const reason = typeof detail['reason'] === 'string' ? detail['reason'] : what
  return reason.charAt(0).toLowerCase() + reason.slice(1).replace(/\.$/, '')
}

const oldestOf = (alerts: readonly Alert[]): string | null => alerts.map(({ since }) => since).toSorted()[0] ?? null

function waitingFact(tenant: TenantFigures, alerts: readonly Alert[]): AllFact[] {
  const { waiting } = tenant
  if (waiting === 0) return []
  const isStopped = tenant.status === 'suspended'
  const wait = `${count(waiting)} ${waiting === 1 ? 'message waits' : 'messages wait'}`
  return [
    factOf(tenant, {
      ...base,
      key: WAITING,
      ...(isStopped
        ? { rank: 'system', icon: 'optedOut', said: [`suspended by the operator, ${wait} until it is active`] }
        : { rank: 'waits', icon: 'waiting', said: [wait] }),
      kind: 'warn',
      short: isStopped ? `${wait} until it is active` : wait,
      since: oldestOf(alerts),
      action: link(tenant, 'Show what waits', 'messages', { state: 'waiting' }),
      count: waiting,
      alerts,
    }),
  ]
}

function webhookFact(tenant: TenantFigures, alerts: readonly Alert[]): AllFact[] {
  const { neverArrived } = tenant
  if (alerts.length + neverArrived === 0) return []
  const failing = alerts.length === 1 ? 'its webhook fails' : `${count(alerts.length)} of its webhooks fail`
  const lost = `${count(neverArrived)} ${neverArrived === 1 ? 'delivery' : 'deliveries'} never arrived`
  const said = [alerts.length > 0 && failing, neverArrived > 0 && lost].filter((part) => part !== false).join(', ')
  return [
    factOf(tenant, {
      ...base,
      key: 'webhooks',
      rank: 'webhooks',
      kind: 'bad',
      icon: 'webhook',
      said: [said],
      short: alerts.length > 0 ? failing : `${count(neverArrived)} never arrived`,
      since: oldestOf(alerts),
      action: link(tenant, 'Show deliveries', 'webhooks', { state: neverArrived > 0 ? 'never_arrived' : '' }),
      count: Math.max(neverArrived, alerts.length),
      alerts,
    }),
  ]
}

/** This few failures are usual, unless they are most of the messages. */
const FEW_FAILURES = 5

/** Only what is more than usual: with 500 tenants, each has an occasional failure. */
function failureFact(tenant: TenantFigures, { range }: FactOptions): AllFact[] {
  const bad = tenant.failed + tenant.undelivered
  const all = tenant.sent + tenant.failed
  if (bad < FEW * all || (bad < FEW_FAILURES && 2 * bad < all) || bad === 0) return []
  const what = tenant.failed === 0 ? 'were not delivered' : 'failed'
  return [
    factOf(tenant, {
      ...base,
      key: 'failures',
      rank: 'failures',
      kind: 'bad',
      icon: 'failed',
      said: [`${count(bad)} of ${count(all)} ${all === 1 ? 'message' : 'messages'} ${what}`],
      action: link(tenant, 'Show what failed', 'messages', {
        state: tenant.failed === 0 ? 'undelivered' : 'failed',
        after: range.name,
      }),
      count: bad,
    }),
  ]
}
