import { type Standings, isMuted, worstFirst } from '../facts/fact.ts'
import { count } from '../state/clock.ts'
import type { Trouble, View } from '../state/view-names.ts'
import type { AllOverview, TenantFigures } from './all-overview.ts'
import { type AllFact, type FactOptions, factsOfAll } from './tenant-facts.ts'

/** What is said of all tenants: in the sentence, the rows, the table and the rail. */
export interface AllStanding extends Standings<AllFact> {
  /** The facts of each tenant that has any, the worst first; without muted ones. */
  byTenant: ReadonlyMap<string, readonly AllFact[]>
  muted: readonly AllFact[]
}

export function standingOfAll(overview: AllOverview, options: FactOptions): AllStanding {
  const facts = factsOfAll(overview, options)
  const { worst, others } = worstFirst(facts)
  const byTenant = new Map<string, AllFact[]>()
  for (const fact of worst === null ? [] : [worst, ...others])
    if (fact.tenantId !== undefined) byTenant.set(fact.tenantId, [...(byTenant.get(fact.tenantId) ?? []), fact])
  return { worst, others, muted: facts.filter(isMuted), byTenant }
}

/** How the tenants are that the worst fact is not about: `One more of 7 tenants waits; the other five are fine.` */
export function othersText({ worst, byTenant }: AllStanding, total: number): string {
  const told = worst?.tenantId === undefined ? 0 : 1
  const troubled = [...byTenant].filter(([tenantId]) => tenantId !== worst?.tenantId).map(([, [first]]) => first?.rank)
  const { length } = troubled
  const fine = total - told - length
  const rest = `the other ${inWords(fine)} ${fine === 1 ? 'is' : 'are'} fine`
  if (length === 0) return told === 0 ? `All ${count(total)} tenants are fine.` : `${rest.replace('the', 'The')}.`
  const look = troubled.every((rank) => rank === 'waits') ? 'wait' : 'need'
  const who = `${inWords(length)}${told === 1 ? ' more' : ''} of ${count(total)} tenants ${look}${length === 1 ? 's' : ''}`
  const sentence = `${who}${look === 'need' ? ' a look' : ''}${fine > 0 ? `; ${rest}` : ''}.`
  return sentence.charAt(0).toUpperCase() + sentence.slice(1)
}

const WORDS = ['no', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten'] as const

export const inWords = (value: number): string => WORDS[value] ?? count(value)

/** What the rail counts: sums over all tenants without what is muted, each with the tenant that has the most. */
export function troublesOfAll(
  { byTenant, muted }: AllStanding,
  tenants: readonly TenantFigures[],
): Partial<Record<View, Trouble | null>> {
  const silent = new Set(muted.map(({ key }) => key))
  const heard = ({ tenantId }: TenantFigures, key: string, value: number): number =>
    silent.has(`${tenantId} ${key}`) ? 0 : value
  const sum = (kind: Trouble['kind'], word: string, countOf: (tenant: TenantFigures) => number): Trouble | null => {
    const counts = tenants.map((tenant) => ({ tenantId: tenant.tenantId, value: countOf(tenant) }))
    const total = counts.reduce((all, { value }) => all + value, 0)
    const [most] = counts.toSorted((a, b) => b.value - a.value)
    return total === 0 || most === undefined ? null : { count: total, kind, word, tenantId: most.tenantId }
  }
  const ofFacts = ({ tenantId }: TenantFigures, is: (fact: AllFact) => boolean): number =>
    (byTenant.get(tenantId) ?? []).filter(is).reduce((all, fact) => all + fact.count, 0)
  return {
    messages:
      sum('warn', 'waiting', (tenant) => heard(tenant, 'waiting', tenant.waiting)) ??
      sum('bad', 'failed', (tenant) => ofFacts(tenant, ({ rank }) => rank === 'failures')),
    webhooks:
      sum('bad', 'never arrived', (tenant) => heard(tenant, 'webhooks', tenant.neverArrived)) ??
      sum('bad', 'failing', (tenant) => ofFacts(tenant, ({ rank }) => rank === 'webhooks')),
    numbers:
      sum('bad', 'cannot send', (tenant) => ofFacts(tenant, (fact) => isOfExtensions(fact) && fact.kind === 'bad')) ??
      sum('warn', 'need a look', (tenant) => ofFacts(tenant, isOfExtensions)),
  }
}

const isOfExtensions = ({ action }: AllFact): boolean =>
  action?.type === 'authorize' || (action?.type === 'link' && action.view === 'numbers')
