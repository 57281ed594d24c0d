import { type Signal, useSignal } from '@preact/signals'
import type { ComponentChild } from 'preact'
import { useRef } from 'preact/hooks'
import { focusList } from '../list/cursor.ts'
import { Icon } from '../parts/icon.tsx'
import { IconButton } from '../parts/icon-button.tsx'
import { refine } from '../state/address.ts'
import type { ChipFilter } from './filters.ts'
import './search.css'
import '../style/boxed.css'

/** What suggestions need from the field that they complete. */
export interface FieldParts {
  typed: Signal<string>
  /** Which suggestion the arrow keys chose; -1 without one. */
  at: Signal<number>
  /** Whether they were closed. Typing on finds others. */
  isClosed: Signal<boolean>
  /** How many are shown. */
  shown: Signal<number>
  /** What they do with a key before the field does; false if it is not theirs. */
  keys: { current: (event: KeyboardEvent) => boolean }
}

type Asked = Readonly<Record<string, string>> | string

interface SearchFieldProps {
  /** Its name for screen readers. */
  label: string
  placeholder: string
  chips: readonly ChipFilter[]
  /** The filters in the typed text, or why they are not valid. */
  read: (typed: string) => Asked | Promise<Asked>
  /** Draws suggestions while the field has the focus. */
  suggest: (parts: FieldParts) => ComponentChild
}

/**
 * The search field of a list: filters are chips, Enter adds the typed text, and Backspace in the empty field removes the last chip. Text that
 * is not valid stays in the field.
 */
export function SearchField({ label, placeholder, chips, read, suggest }: SearchFieldProps) {
  const { parts, problem, isFocused, search, onFocus, onInput } = useSearch(read)
  const { typed, at, shown } = parts
  return (
    <>
      <form class="line boxed search" role="search" onSubmit={(event) => void search(event)}>
        <Icon name="search" />
        {chips.map((chip) => (
          <Chip key={chip.name} {...chip} />
        ))}
        <input
          data-search
          role="combobox"
          aria-label={label}
          aria-autocomplete="list"
          aria-expanded={shown.value > 0}
          aria-controls={shown.value > 0 ? 'suggestions' : undefined}
          aria-activedescendant={shown.value > 0 && at.value >= 0 ? `suggestion-${at.value}` : undefined}
          aria-invalid={problem.value !== ''}
          autoComplete="off"
          placeholder={chips.length === 0 ? placeholder : ''}
          value={typed.value}
          onFocus={onFocus}
          onBlur={() => void (isFocused.value = false)}
          onInput={onInput}
          onKeyDown={(event) => onKey(event, parts, chips)}
        />
        {chips.length === 0 && <kbd aria-hidden="true">/</kbd>}
        {isFocused.value && suggest(parts)}
      </form>
      {problem.value !== '' && (
        <p class="search-problem bad" role="alert">
          {problem.value}
        </p>
      )}
    </>
  )
}

function useSearch(read: SearchFieldProps['read']) {
  const problem = useSignal('')
  const isFocused = useSignal(false)
  const [typed, at, isClosed, shown] = [useSignal(''), useSignal(-1), useSignal(false), useSignal(0)]
  const keys = useRef<FieldParts['keys']['current']>(() => false)
  const reopen = (): void => {
    at.value = -1
    isClosed.value = false
  }
  const onFocus = (): void => {
    isFocused.value = true
    reopen()
  }
  const onInput = ({ currentTarget }: { currentTarget: HTMLInputElement }): void => {
    typed.value = currentTarget.value
    problem.value = ''
    reopen()
  }
  const search = async (event: Event): Promise<void> => {
    event.preventDefault()
    const answer = await read(typed.value)
    const isRefused = typeof answer === 'string'
    problem.value = isRefused ? answer : ''
    if (isRefused) return
    refine({ ...answer, id: '' })
    typed.value = ''
    // The list's keys work immediately.
    focusList()
  }
  return { parts: { typed, at, isClosed, shown, keys }, problem, isFocused, search, onFocus, onInput }
}

function onKey(event: KeyboardEvent, { typed, keys }: FieldParts, chips: readonly ChipFilter[]): void {
  const last = chips.at(-1)
  if (keys.current(event)) event.preventDefault()
  else if (event.key === 'Backspace' && typed.value === '' && last !== undefined) refine({ [last.name]: '', id: '' })
  else if (event.key === 'Escape') (event.currentTarget as HTMLElement).blur()
}

const Chip = ({ name, value, said }: ChipFilter) => (
  <span class="chip">
    <span class="dim">{name}</span>
    <span class={/^(ends|text|user)$/.test(name) ? 'mask clip' : 'clip'}>{said}</span>
    <IconButton
      class="tiny"
      icon="failed"
      label={`Remove filter ${name} ${value}`}
      run={() => refine({ [name]: '', id: '' })}
    />
  </span>
)
