import { useSignal } from '@preact/signals'
import type { RefObject } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { useAct } from '../parts/act.ts'
import { save } from '../parts/save.ts'
import { param, refine } from '../state/address.ts'
import { asOperator } from '../state/caller.ts'
import { count, now } from '../state/clock.ts'
import { type Sorting, type TableRow, TROUBLE, columnsOf, rowsOf, sorted, sortingOf } from './columns.ts'
import type { Known } from './reading.ts'
import type { AllStanding } from './standing-of-all.ts'
import { TenantRow } from './tenant-row.tsx'

/** Up to this many tenants are easy to find without a search. */
const SEARCHED_TENANTS = 8

export function TenantTable({ known, standing }: { known: Known; standing: AllStanding }) {
  const { overview, range } = known
  const typed = useSignal('')
  const sorting = sortingOf(param('sort'), range.label)
  const rows = sorted(
    rowsOf(known, standing).filter(({ tenant }) => isNamed(tenant.name, typed.value)),
    sorting,
  )
  return (
    <section aria-labelledby="tenants">
      <header class="line tenants-head">
        <h2 id="tenants">Tenants</h2>
        {overview.total > SEARCHED_TENANTS && <Find typed={typed} />}
        <UsageLinks />
      </header>
      <table class="tenants" aria-rowcount={rows.length + 1}>
        <Head label={range.label} sorting={sorting} />
        <Body rows={rows} highest={Math.max(1, ...overview.tenants.flatMap(({ buckets }) => buckets))} />
      </table>
      {rows.length === 0 && <p class="dim">No tenant has this name.</p>}
      {overview.tenants.length < overview.total && (
        <p class="dim">
          {count(overview.tenants.length)} of {count(overview.total)} tenants: those in trouble, and those with the most
          texts.
        </p>
      )}
    </section>
  )
}

function Body({ rows, highest }: { rows: readonly TableRow[]; highest: number }) {
  const body = useRef<HTMLTableSectionElement>(null)
  const { from, to, height } = useRowWindow(body, rows.length)
  const drawn = rows.slice(from, to)
  return (
    <tbody ref={body}>
      <Gap height={from * height} />
      {drawn.map((row, index) => (
        <TenantRow key={row.tenant.tenantId} row={row} index={from + index + 2} highest={highest} />
      ))}
      <Gap height={Math.max(0, rows.length - from - drawn.length) * height} />
    </tbody>
  )
}

const isNamed = (name: string, typed: string): boolean =>
  name.toLocaleLowerCase().includes(typed.trim().toLocaleLowerCase())

const Find = ({ typed }: { typed: { value: string } }) => (
  <input
    class="field tenants-find"
    data-search
    aria-label="Find a tenant"
    placeholder="Find a tenant"
    value={typed.value}
    onInput={({ currentTarget }) => void (typed.value = currentTarget.value)}
  />
)

/** Empty space in place of the rows that are not drawn. */
const Gap = ({ height }: { height: number }) =>
  height > 0 ? <tr class="tenants-gap" aria-hidden="true" style={{ height: `${height}px` }} /> : null

/** Names that sort the table when clicked; a second click reverses the order. */
const Head = ({ label, sorting }: { label: string; sorting: Sorting }) => (
  <thead>
    <tr aria-rowindex={1}>
      <th>
        <span class="hidden">State</span>
      </th>
      {columnsOf(label).map(({ name, label: text, hint }) => {
        const isCurrent = name === sorting.column.name
        return (
          <th
            key={name}
            scope="col"
            class={`of-${name}`}
            title={hint}
            aria-sort={isCurrent ? (sorting.isDescending ? 'descending' : 'ascending') : undefined}
          >
            <button type="button" onClick={() => sortBy(name, isCurrent && !sorting.isOtherWay)}>
              {text}
              <span aria-hidden="true"> {isCurrent ? (sorting.isDescending ? '↓' : '↑') : '↕'}</span>
            </button>
          </th>
        )
      })}
      <th>
        <span class="hidden">What to press</span>
      </th>
    </tr>
  </thead>
)

const sortBy = (name: string, isOtherWay: boolean): void =>
  refine({ sort: isOtherWay ? `-${name}` : name === TROUBLE.name ? '' : name })

/** Rows above and below the visible ones. */
const MORE = 15
/** Until the first row can be measured. */
const USUAL_HEIGHT = 48

/** Which rows of a table are visible: only these are drawn. All rows have the same height. */
function useRowWindow(body: RefObject<HTMLElement | null>, length: number) {
  /** `height` of each row, in pixels. */
  const shown = useSignal({ from: 0, to: 2 * MORE, height: USUAL_HEIGHT })
  useEffect(() => {
    const measure = (): void => {
      const { current } = body
      if (current === null) return
      const height = current.querySelector<HTMLElement>('[aria-rowindex]')?.offsetHeight ?? USUAL_HEIGHT
      const first = Math.floor(-current.getBoundingClientRect().top / height)
      const last = first + Math.ceil(innerHeight / height)
      const [from, to] = [stepped(first - MORE), stepped(last + 2 * MORE)]
      const { value } = shown
      if (from !== value.from || to !== value.to || height !== value.height) shown.value = { from, to, height }
    }
    measure()
    const stop = new AbortController()
    const { signal } = stop
    // The scroller around any part of the page.
    addEventListener('scroll', measure, { capture: true, passive: true, signal })
    addEventListener('resize', measure, { signal })
    return () => stop.abort()
  }, [length])
  return shown.value
}

/** In steps, so that scrolling by one row does not redraw the table. */
const stepped = (row: number): number => Math.max(0, row - (row % MORE))

/** The usage of all tenants this month and last month, because last month is billed at the beginning of this one. */
function UsageLinks() {
  const { act, error } = useAct()
  return (
    <p class="line tenants-usage">
      {error.value !== '' && (
        <span class="bad" role="alert">
          {error.value}{' '}
        </span>
      )}
      <span>Usage as CSV:</span>
      {[0, 1].map((ago) => {
        const { month, name } = monthOf(now.peek(), ago)
        return (
          <button
            key={month}
            type="button"
            class="link"
            aria-label={`Usage of ${name} as CSV`}
            onClick={() => void act(async () => save(await readUsage(month), `usage-${month}.csv`))}
          >
            {name}
          </button>
        )
      })}
    </p>
  )
}

/** The usage of all tenants in a calendar month, as a file for a spreadsheet. */
const readUsage = (month: string): Promise<Blob> =>
  asOperator().request('GET', '/v1/operator/usage', { query: { month }, headers: { accept: 'text/csv' }, blob: true })

/** Usage is counted by UTC days. */
function monthOf(at: number, ago: number): { month: string; name: string } {
  const date = new Date(at)
  const first = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() - ago, 1))
  return {
    month: first.toISOString().slice(0, 7),
    name: new Intl.DateTimeFormat('en-GB', { month: 'long', timeZone: 'UTC' }).format(first),
  }
}
