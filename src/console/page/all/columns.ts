import { RANKS } from '../facts/fact.ts'
import type { TenantFigures } from './all-overview.ts'
import type { Has, Known } from './reading.ts'
import { type AllStanding, type TenantState, stateOf } from './standing-of-all.ts'
import type { AllFact } from './tenant-facts.ts'

/** One tenant in the table, with the values by which it is sorted. */
export interface TableRow {
  tenant: TenantFigures
  has: Has | undefined
  state: TenantState
  /** What is wrong, worst first, without `muted`. */
  facts: readonly AllFact[]
  muted: readonly AllFact[]
  /** The position of its worst fact in `RANKS`. Then come tenants that an operator stopped, and then all others. */
  trouble: number
  since: string
  texts: number
}

const STOPPED = RANKS.length
const NONE = STOPPED + 1

export const rowsOf = ({ overview, has }: Known, standing: AllStanding): TableRow[] =>
  overview.tenants.map((tenant) => {
    const { tenantId, status, sent, received } = tenant
    const facts = standing.byTenant.get(tenantId) ?? []
    const [worst] = facts
    return {
      tenant,
      has: has.get(tenantId),
      state: stateOf(tenant, standing, has.get(tenantId)),
      facts,
      muted: standing.muted.filter((fact) => fact.tenantId === tenantId),
      trouble: Math.min(
        worst === undefined ? NONE : RANKS.indexOf(worst.rank),
        status === 'suspended' ? STOPPED : NONE,
      ),
      since: worst?.since ?? '',
      texts: sent + received,
    }
  })

interface Column {
  name: string
  label: string
  /** What it counts, for the pointer. */
  hint?: string
  compare: (a: TableRow, b: TableRow) => number
}

const by =
  (valueOf: (row: TableRow) => number) =>
  (a: TableRow, b: TableRow): number =>
    valueOf(a) - valueOf(b)

/** In the locale of the reader. */
const names = new Intl.Collator(undefined, { numeric: true })

/** Trouble comes first until another order is chosen. */
export const TROUBLE: Column = { name: 'trouble', label: 'What is wrong', compare: by(({ trouble }) => -trouble) }
const TENANT: Column = {
  name: 'tenant',
  label: 'Tenant',
  compare: (a, b) => names.compare(a.tenant.name, b.tenant.name),
}

/** The columns by which the table can be sorted. `range` names the bars. */
export const columnsOf = (range: string): readonly Column[] => [
  TENANT,
  TROUBLE,
  { name: 'since', label: 'Since', compare: (a, b) => a.since.localeCompare(b.since) },
  { name: 'texts', label: 'Texts', hint: 'Sent and received', compare: by(({ texts }) => texts) },
  { name: 'peak', label: `Last ${range}`, compare: by(({ tenant }) => Math.max(0, ...tenant.buckets)) },
  {
    name: 'failed',
    label: 'Failed',
    hint: 'Failed or cancelled, or not delivered',
    compare: by(({ tenant }) => badOf(tenant)),
  },
  { name: 'waiting', label: 'Waiting', compare: by(({ tenant }) => tenant.waiting) },
  {
    name: 'lost',
    label: 'Never arrived',
    hint: 'Deliveries of webhooks',
    compare: by(({ tenant }) => tenant.neverArrived),
  },
]

/** Messages that failed, or that were sent but not delivered. */
export const badOf = ({ failed, undelivered }: TenantFigures): number => failed + undelivered

/** How the table is sorted. In the address: the column's name, after a `-` if the order is reversed. */
export interface Sorting {
  column: Column
  isOtherWay: boolean
  isDescending: boolean
}

/** A first click puts on top the greatest value, or the first in the alphabet. */
export function sortingOf(param: string, range: string): Sorting {
  const column = columnsOf(range).find(({ name }) => name === param.replace('-', '')) ?? TROUBLE
  const isOtherWay = param.startsWith('-')
  return { column, isOtherWay, isDescending: isOtherWay === (column === TENANT) }
}

/** Rows with equal values keep the usual order: trouble first, then the most texts. */
export function sorted(rows: readonly TableRow[], { column, isDescending }: Sorting): TableRow[] {
  const usual = (a: TableRow, b: TableRow): number => a.trouble - b.trouble || b.texts - a.texts
  return rows.toSorted((a, b) => (isDescending ? column.compare(b, a) : column.compare(a, b)) || usual(a, b))
}
