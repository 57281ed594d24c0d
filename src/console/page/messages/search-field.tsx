import { useSignal } from '@preact/signals'
import { Icon } from '../parts/icon.tsx'
import { spokenNumber } from '../parts/phone-number.tsx'
import { param, refine } from '../state/address.ts'
import { FILTER_NAMES, type Filter, type FilterName, parseSearch } from './filter.ts'

/** The search field: filters are chips, Enter adds what was typed, Backspace in the empty field takes the last one away. */
export function SearchField({ filter }: { filter: Filter }) {
  const typed = useSignal('')
  const chips = FILTER_NAMES.filter(
    (name) => filter[name] !== undefined && !(name === 'direction' || name === 'status'),
  )
  const search = (event: Event): void => {
    event.preventDefault()
    refine({ ...parseSearch(typed.value), id: '' })
    typed.value = ''
  }
  return (
    <form class="search" role="search" onSubmit={search}>
      <Icon name="search" />
      {chips.map((name) => (
        <Chip key={name} name={name} value={filter[name] ?? ''} />
      ))}
      <input
        data-search
        aria-label="Search messages"
        placeholder={chips.length === 0 ? 'to:+1503…  status:failed  app:name  after:today' : ''}
        value={typed.value}
        onInput={({ currentTarget }) => void (typed.value = currentTarget.value)}
        onKeyDown={(event) => {
          const last = chips.at(-1)
          if (event.key === 'Backspace' && typed.value === '' && last !== undefined) refine({ [last]: '' })
          if (event.key === 'Escape') event.currentTarget.blur()
        }}
      />
      {filter.text === undefined && chips.length === 0 && <kbd aria-hidden="true">/</kbd>}
    </form>
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

const TABS: readonly [name: string, filter: { status: string; direction: string }][] = [
  ['All', { status: '', direction: '' }],
  ['Queued', { status: 'queued', direction: '' }],
  ['Failed', { status: 'failed', direction: '' }],
  ['Received', { status: 'received', direction: '' }],
]

/** The states that most people ask for. The list's total stands at the chosen one. */
export const Tabs = ({ total }: { total: string }) => (
  <nav class="tabs" aria-label="Status">
    {TABS.map(([name, { status, direction }]) => {
      const isCurrent = param('status') === status && param('direction') === direction
      return (
        <button
          key={name}
          type="button"
          {...(isCurrent ? { 'aria-current': 'true' as const } : {})}
          onClick={() => refine({ status, direction, id: '' })}
        >
          {name}
          {isCurrent && <b>{total}</b>}
        </button>
      )
    })}
    {TABS.every(([, { status }]) => param('status') !== status) && (
      <button type="button" aria-current="true">
        {param('status')}
        <b>{total}</b>
      </button>
    )}
  </nav>
)
