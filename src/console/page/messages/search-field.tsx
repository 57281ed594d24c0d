import { useSignal } from '@preact/signals'
import { Icon } from '../parts/icon.tsx'
import { spokenNumber } from '../parts/phone-number.tsx'
import { refine } from '../state/address.ts'
import { focusList } from './cursor.ts'
import { problemOf } from './filter-problem.ts'
import { FILTER_NAMES, type Filter, type FilterName, TABS, filterOfTab, parseSearch, tabOf } from './filter.ts'

/**
 * The search field: filters are chips, Enter adds what was typed, Backspace in the empty field takes the last one away. What cannot be
 * asked for stays in the field.
 */
export function SearchField({ filter }: { filter: Filter }) {
  const typed = useSignal('')
  const problem = useSignal<string | null>(null)
  const byTab: readonly FilterName[] = tabOf(filter) === null ? [] : ['state', 'status', 'direction']
  const chips = FILTER_NAMES.filter((name) => filter[name] !== undefined && !byTab.includes(name))
  const search = (event: Event): void => {
    event.preventDefault()
    const asked = parseSearch(typed.value)
    problem.value = problemOf(asked)
    if (problem.value !== null) return
    refine({ ...asked, id: '' })
    typed.value = ''
    // The keys of the list work at once.
    focusList()
  }
  return (
    <>
      <form class="search" role="search" onSubmit={search}>
        <Icon name="search" />
        {chips.map((name) => (
          <Chip key={name} name={name} value={filter[name] ?? ''} />
        ))}
        <input
          data-search
          aria-label="Search messages"
          placeholder={chips.length === 0 ? 'to:+1503…  state:waiting  app:name  after:today' : ''}
          value={typed.value}
          aria-invalid={problem.value !== null}
          onInput={({ currentTarget }) => {
            typed.value = currentTarget.value
            problem.value = null
          }}
          onKeyDown={(event) => {
            const last = chips.at(-1)
            if (event.key === 'Backspace' && typed.value === '' && last !== undefined) refine({ [last]: '' })
            if (event.key === 'Escape') event.currentTarget.blur()
          }}
        />
        {filter.text === undefined && chips.length === 0 && <kbd aria-hidden="true">/</kbd>}
      </form>
      {problem.value !== null && (
        <p class="search-problem bad" role="alert">
          {problem.value}
        </p>
      )}
    </>
  )
}

const Chip = ({ name, value }: { name: FilterName; value: string }) => (
  <span class="chip">
    <span class="dim">{name}</span>
    <span class={value.startsWith('+') ? undefined : 'mask-not'}>
      {value.startsWith('+') ? spokenNumber(value) : value}
    </span>
    <button type="button" aria-label={`Remove filter ${name} ${value}`} onClick={() => refine({ [name]: '' })}>
      <Icon name="failed" />
    </button>
  </span>
)

/** The list's total stands at the chosen tab. Without a tab for the filter, its chips say it. */
export const Tabs = ({ filter, total }: { filter: Filter; total: string }) => (
  <nav class="tabs" aria-label="Status">
    {TABS.map((tab) => {
      const isCurrent = tabOf(filter) === tab
      return (
        <button
          key={tab.name}
          type="button"
          {...(isCurrent ? { 'aria-current': 'true' as const } : {})}
          onClick={() => refine({ ...filterOfTab(tab), id: '' })}
        >
          {tab.name}
          {isCurrent && <b>{total}</b>}
        </button>
      )
    })}
  </nav>
)
