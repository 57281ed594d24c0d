import { type Standings, isMuted, worstFirst } from '../facts/fact.ts'
import { WAITING } from '../facts/facts-of.ts'
import { capital, count } from '../state/clock.ts'
import type { Trouble, View } from '../state/view-names.ts'
import type { AllOverview, TenantFigures } from './all-overview.ts'
import type { Has, Known } from './reading.ts'
import { type AllFact, type FactOptions, factsOfAll } from './tenant-facts.ts'

/** What the page says about all tenants: in the sentence, the rows, the table and the rail. */
export interface AllStanding extends Standings<AllFact> {
  /** The facts of each tenant that has at least one unmuted fact, worst first. */
  byTenant: ReadonlyMap<string, readonly AllFact[]>
  muted: readonly AllFact[]
}

export function standingOfAll(overview: AllOverview, options: FactOptions): AllStanding {
  const facts = factsOfAll(overview, options)
  const { worst, others } = worstFirst(facts)
  const byTenant = new Map<string, AllFact[]>()
  for (const fact of worst === null ? [] : [worst, ...others])
    if (fact.tenantId !== undefined) byTenant.set(fact.tenantId, [...(byTenant.get(fact.tenantId) ?? []), fact])
  return { worst, others: others.filter((fact) => !isAside(fact, byTenant)), muted: facts.filter(isMuted), byTenant }
}

/** A wait without an alert, so nobody knows since when. If something is worse, the tenant's row mentions it. */
const isAside = ({ tenantId = '', key, since }: AllFact, byTenant: AllStanding['byTenant']): boolean =>
  isWait(key) && since === null && byTenant.get(tenantId)?.[0]?.key !== key

const isWait = (key: string): boolean => key.endsWith(` ${WAITING}`)

/** How a tenant is doing, in the sentence and in the table. */
export type TenantState = keyof typeof STATES

/** The words for one tenant, and for several. */
const STATES = {
  bad: ['needs attention', 'need attention'],
  waits: ['waits', 'wait'],
  suspended: ['is suspended', 'are suspended'],
  inactive: ['is deactivated', 'are deactivated'],
  unconnected: ['has no number', 'have no number'],
  muted: ['has a muted alert', 'have a muted alert'],
  fine: ['is fine', 'are fine'],
} as const

export function stateOf(
  { tenantId, status }: TenantFigures,
  { byTenant, muted }: Pick<AllStanding, 'byTenant' | 'muted'>,
  has: Has | undefined,
): TenantState {
  const [worst] = byTenant.get(tenantId) ?? []
  if (status === 'inactive') return 'inactive'
  if (status === 'suspended' && (worst === undefined || isWait(worst.key))) return 'suspended'
  if (worst !== undefined) return isWait(worst.key) ? 'waits' : 'bad'
  if (has?.extensions === 0) return 'unconnected'
  return muted.some((fact) => fact.tenantId === tenantId) ? 'muted' : 'fine'
}

/** How the tenants are doing that the worst fact is not about: `One more of 7 tenants waits, one is suspended; the other four are fine.` */
export function othersText({ overview: { tenants, total }, has }: Known, standing: AllStanding): string {
  const told = standing.worst?.tenantId
  const rest = tenants.filter(({ tenantId }) => tenantId !== told)
  const by = Map.groupBy(rest, (tenant) => stateOf(tenant, standing, has.get(tenant.tenantId)))
  by.delete('fine')
  const said = [...by].toSorted(([a], [b]) => ORDER.indexOf(a) - ORDER.indexOf(b))
  const fine = [...by.values()].reduce((left, { length }) => left - length, total - (told === undefined ? 0 : 1))
  if (said.length === 0 && told === undefined)
    return total === 1 ? 'Your tenant is fine.' : `${total === 2 ? 'Both' : `All ${count(total)}`} tenants are fine.`
  const parts = said.map(([state, { length }], index) => {
    const more = told !== undefined && (state === 'bad' || state === 'waits') ? ' more' : ''
    const who = index === 0 ? `${inWords(length)}${more} of ${count(total)} tenants` : inWords(length)
    return `${who} ${STATES[state][length === 1 ? 0 : 1]}`
  })
  const end = fine > 0 && `the other ${inWords(fine)} ${STATES.fine[fine === 1 ? 0 : 1]}`
  const text = [parts.join(', '), end].filter(Boolean).join('; ')
  return text === '' ? '' : `${capital(text)}.`
}

const ORDER = Object.keys(STATES)

const WORDS = ['no', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten'] as const

const inWords = (value: number): string => WORDS[value] ?? count(value)

/** What the rail counts: sums over all tenants, without muted alerts, each with the tenant that has the most. */
export function troublesOfAll({ byTenant }: AllStanding): Partial<Record<View, Trouble | null>> {
  const sum = (kind: Trouble['kind'], word: string, is: (fact: AllFact) => boolean): Trouble | null => {
    const counts = [...byTenant].map(([tenantId, facts]) => ({
      tenantId,
      value: facts.filter(is).reduce((all, fact) => all + fact.count, 0),
    }))
    const total = counts.reduce((all, { value }) => all + value, 0)
    const [most] = counts.toSorted((one, other) => other.value - one.value)
    return total === 0 || most === undefined ? null : { count: total, kind, word, tenantId: most.tenantId }
  }
  return {
    messages:
      sum('warn', 'waiting', ({ key }) => isWait(key)) ?? sum('bad', 'failed', ({ rank }) => rank === 'failures'),
    webhooks: sum('bad', 'never arrived', isLost) ?? sum('bad', 'failing', ({ rank }) => rank === 'webhooks'),
    numbers:
      sum('bad', 'cannot send', (fact) => isOfExtensions(fact) && fact.kind === 'bad') ??
      sum('warn', 'need attention', isOfExtensions),
  }
}

const isLost = ({ action }: AllFact): boolean => action?.type === 'link' && action.params['state'] === 'never_arrived'

const isOfExtensions = ({ action }: AllFact): boolean =>
  action?.type === 'authorize' || (action?.type === 'link' && action.view === 'numbers')
