import { type Signal, useSignal } from '@preact/signals'
import type { ComponentChild } from 'preact'
import { useRef } from 'preact/hooks'
import { focusList } from '../list/cursor.ts'
import { Icon } from '../parts/icon.tsx'
import { refine } from '../state/address.ts'
import { Problem } from './problem.tsx'
import './search.css'
import '../style/boxed.css'

/** What suggestions need from the field that they complete. */
export interface FieldParts {
  typed: Signal<string>
  /** The id of the suggestion that the arrow keys chose, '' for none; null while none are shown. */
  active: Signal<string | null>
  input: HTMLInputElement
}

/** A filter in the field. */
export interface ChipFilter {
  name: string
  value: string
  /** The value in words for people. */
  said: string
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
  const { typed, problem, search } = useSearch(read)
  const isFocused = useSignal(false)
  const active = useSignal<string | null>(null)
  const input = useRef<HTMLInputElement>(null)
  return (
    <>
      <form class="line boxed search" role="search" onSubmit={search}>
        <Icon name="search" />
        {chips.map((chip) => (
          <Chip key={chip.name} {...chip} />
        ))}
        <input
          ref={input}
          data-search
          role="combobox"
          aria-label={label}
          aria-autocomplete="list"
          aria-expanded={active.value !== null}
          aria-controls={active.value === null ? undefined : 'suggestions'}
          aria-activedescendant={active.value || undefined}
          aria-invalid={problem.value !== ''}
          autoComplete="off"
          placeholder={chips.length === 0 ? placeholder : ''}
          value={typed.value}
          onFocus={() => void (isFocused.value = true)}
          onBlur={() => void (isFocused.value = false)}
          onInput={({ currentTarget }) => {
            typed.value = currentTarget.value
            problem.value = ''
          }}
          onKeyDown={(event) => onKey(event, typed.value, chips)}
        />
        {chips.length === 0 && <kbd aria-hidden="true">/</kbd>}
        {isFocused.value && input.current !== null && suggest({ typed, active, input: input.current })}
      </form>
      <Problem problem={problem} />
    </>
  )
}

function useSearch(read: SearchFieldProps['read']) {
  const typed = useSignal('')
  const problem = useSignal('')
  const ask = async (): Promise<void> => {
    const answer = await read(typed.value)
    const isRefused = typeof answer === 'string'
    problem.value = isRefused ? answer : ''
    if (isRefused) return
    refine({ ...answer, id: '' })
    typed.value = ''
    // The list's keys work immediately.
    focusList()
  }
  const search = (event: Event): void => {
    event.preventDefault()
    void ask()
  }
  return { typed, problem, search }
}

function onKey(event: KeyboardEvent, typed: string, chips: readonly ChipFilter[]): void {
  const last = chips.at(-1)
  if (event.key === 'Backspace' && typed === '' && last !== undefined) refine({ [last.name]: '', id: '' })
  if (event.key === 'Escape') (event.currentTarget as HTMLElement).blur()
}

const Chip = ({ name, value, said }: ChipFilter) => (
  <span class="chip">
    <span class="dim">{name}</span>
    <span class={/^(ends|text|user)$/.test(name) ? 'mask' : undefined}>{said}</span>
    <button
      type="button"
      class="icon-button tiny"
      aria-label={`Remove filter ${name} ${value}`}
      onClick={() => refine({ [name]: '', id: '' })}
    >
      <Icon name="failed" />
    </button>
  </span>
)
