import type { KnownAlert } from '../state/alert.ts'
import { gatewayFact, kindOfAlert, knownAlert } from '../facts/alert-facts.ts'
import { type Action, type Fact, KINDS, type Part } from '../facts/fact.ts'
import { FEW, NONE_CAN_SEND, WAITING, midSentence } from '../facts/facts-of.ts'
import type { Range } from '../overview/ranges.ts'
import { earliest } from '../parts/ends.ts'
import { capital, count } from '../state/clock.ts'
import type { View } from '../state/view-names.ts'
import type { AllOverview, TenantFigures } from './all-overview.ts'

/** What is wrong with one tenant, or with the gateway itself. */
export interface AllFact extends Fact {
  tenantId?: string
  /** What is wrong, short enough for a narrow column, without a period. */
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
  const byTenant = Map.groupBy(alerts.map(knownAlert), ({ tenantId }) => tenantId)
  const own = (byTenant.get(undefined) ?? []).map(gatewayFact)
  return [
    ...own.map((fact) => ({ ...fact, short: '' })),
    ...tenants.flatMap((tenant) => factsOfTenant(tenant, byTenant.get(tenant.tenantId) ?? [], options)),
  ]
}

/** A fact before its tenant's name is put before it. */
interface OwnFact extends Omit<Fact, 'parts' | 'advice'> {
  said: readonly Part[]
  /** For a narrow column, if that is not what is said. */
  short?: string
  advice?: string
}

/** A tenant that an operator has deactivated has no trouble. */
function factsOfTenant(tenant: TenantFigures, alerts: readonly KnownAlert[], options: FactOptions): AllFact[] {
  const { tenantId, name, status } = tenant
  if (status === 'inactive') return []
  const whose: Part = { text: name, view: 'overview', params: { tenant: tenantId } }
  const by = Map.groupBy(alerts, ({ traits: { toldBy } }) => (toldBy === 'extension' ? undefined : toldBy))
  const isRevoked = alerts.some(({ alert, mutedUntil }) => alert === 'extension_revoked' && mutedUntil === undefined)
  const others = (by.get(undefined) ?? []).filter(({ alert }) => !(alert === NONE_CAN_SEND && isRevoked))
  const own = [
    ...[...Map.groupBy(others, ({ alert }) => alert).values()].map((those) => alertFact(tenant, those, options)),
    waitingFact(tenant, by.get('waiting') ?? []),
    webhookFact(tenant, by.get('webhook') ?? []),
    failureFact(tenant, options),
  ]
  return own.flatMap((fact) => {
    if (fact === null) return []
    const { key, said, short = said.map(textOf).join(''), advice = '', ...rest } = fact
    return {
      ...rest,
      advice,
      key: `${tenantId} ${key}`,
      tenantId,
      short: capital(short),
      parts: [whose, ': ', ...said],
    }
  })
}

const textOf = (part: Part): string => (typeof part === 'string' ? part : 'number' in part ? part.number : part.text)

const link = (tenant: TenantFigures, text: string, view: View, params: Record<string, string> = {}): Action => ({
  type: 'link',
  text,
  view,
  params: { tenant: tenant.tenantId, ...params },
})

/** Alerts of one name, usually about extensions. */
function alertFact(tenant: TenantFigures, alerts: readonly KnownAlert[], { hasLinks }: FactOptions): OwnFact | null {
  const [first] = alerts
  if (first === undefined) return null
  const { alert } = first
  const extensions = alerts.filter(({ detail }) => detail['extensionId'] !== undefined)
  const isOne = extensions.length === 1
  const shared = { ...kindOfAlert(first), key: alert, since: oldestOf(alerts), alerts, count: alerts.length }
  if (alert === NONE_CAN_SEND)
    return {
      ...shared,
      said: ['none of its extensions can send'],
      action: link(tenant, 'Show extensions', 'numbers'),
    }
  if (extensions.length === 0) {
    const more = alerts.length === 1 ? '' : `, and ${count(alerts.length - 1)} more`
    const said = `${first.what.replaceAll(tenant.tenantId, tenant.name)}${more}`
    return { ...shared, said: [said], action: null }
  }
  const name = isOne ? `extension ${numberOf(first)}` : `${count(extensions.length)} extensions`
  const id = isOne ? String(first.detail['extensionId']) : ''
  const who: Part = { text: name, view: 'numbers', params: { tenant: tenant.tenantId, id } }
  const isRevoked = alert === 'extension_revoked'
  const isByJwt = alerts.some(({ fix }) => fix.includes('JWT'))
  return {
    ...shared,
    said: isRevoked ? [who, isOne ? ' was revoked' : ' were revoked'] : [who, `: ${reasonOf(first)}`],
    advice: isRevoked
      ? `Texts from ${isOne ? 'this extension fail until it is' : 'these extensions fail until they are'} authorized again.`
      : '',
    action:
      isRevoked && isOne && !isByJwt && hasLinks
        ? { type: 'authorize', extension: name, tenantId: tenant.tenantId }
        : link(tenant, isOne ? 'Show extension' : 'Show extensions', 'numbers', { id }),
  }
}

const numberOf = ({ detail, subject }: KnownAlert): string => String(detail['extensionNumber'] ?? subject)

const reasonOf = ({ what, detail }: KnownAlert): string =>
  midSentence(typeof detail['reason'] === 'string' ? detail['reason'] : what)

const oldestOf = (alerts: readonly KnownAlert[]): string | null => earliest(alerts.map(({ since }) => since))

function waitingFact(tenant: TenantFigures, alerts: readonly KnownAlert[]): OwnFact | null {
  const { waiting, status } = tenant
  if (waiting === 0) return null
  const wait = `${count(waiting)} ${waiting === 1 ? 'message waits' : 'messages wait'}`
  const stopped = `${wait} until it is active`
  return {
    key: WAITING,
    ...(status === 'suspended'
      ? {
          rank: 'system',
          kind: 'warn',
          icon: 'optedOut',
          said: [`suspended by the operator, ${stopped}`],
          short: stopped,
        }
      : { ...KINDS.waits, said: [wait] }),
    since: oldestOf(alerts),
    action: link(tenant, 'Show what waits', 'messages', { state: 'waiting' }),
    count: waiting,
    alerts,
  }
}

function webhookFact(tenant: TenantFigures, alerts: readonly KnownAlert[]): OwnFact | null {
  const { neverArrived } = tenant
  if (alerts.length + neverArrived === 0) return null
  const failing = alerts.length === 1 ? 'its webhook fails' : `${count(alerts.length)} of its webhooks fail`
  const lost = `${count(neverArrived)} ${neverArrived === 1 ? 'delivery' : 'deliveries'} never arrived`
  return {
    key: 'webhooks',
    ...KINDS.webhooks,
    said: [alerts.length === 0 ? lost : neverArrived === 0 ? failing : `${failing}, ${lost}`],
    short: alerts.length > 0 ? failing : `${count(neverArrived)} never arrived`,
    since: oldestOf(alerts),
    action: link(tenant, 'Show deliveries', 'webhooks', { state: neverArrived > 0 ? 'never_arrived' : '' }),
    count: neverArrived || alerts.length,
    alerts,
  }
}

/** This few failures are usual, unless they are most of the messages. */
const FEW_FAILURES = 5

/** Only what is more than usual: with 500 tenants, each has an occasional failure. */
function failureFact(tenant: TenantFigures, { range }: FactOptions): OwnFact | null {
  const bad = tenant.failed + tenant.undelivered
  const all = tenant.sent + tenant.failed
  if (bad < FEW * all || (bad < FEW_FAILURES && 2 * bad < all) || bad === 0) return null
  const [what, state] = tenant.failed === 0 ? ['were not delivered', 'undelivered'] : ['failed', 'failed']
  return {
    key: 'failures',
    ...KINDS.failures,
    said: [`${count(bad)} of ${count(all)} ${all === 1 ? 'message' : 'messages'} ${what}`],
    since: null,
    action: link(tenant, 'Show what failed', 'messages', { state, after: range.name }),
    count: bad,
  }
}
