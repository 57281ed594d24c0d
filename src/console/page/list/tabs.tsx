import type { Tab } from '../search/filters.ts'
import { refine } from '../state/address.ts'
import { count } from '../state/clock.ts'

interface TabsProps {
  /** What a screen reader calls the row. */
  label: string
  tabs: readonly Tab[]
  /** Null if the chips of the search field show the filter. */
  current: Tab | null
  /** The list's total, shown on the chosen tab; null until it is known. */
  total: number | null
}

/** The row of tabs above a list. */
export const Tabs = ({ label, tabs, current, total }: TabsProps) => (
  <nav class="segmented tabs" aria-label={label}>
    {tabs.map((tab) => (
      <button
        key={tab.name}
        type="button"
        aria-current={tab === current ? 'true' : undefined}
        onClick={() => refine({ ...tab.asks, id: '' })}
      >
        {tab.name}
        {tab === current && total !== 0 && <b>{count(total)}</b>}
      </button>
    ))}
  </nav>
)
