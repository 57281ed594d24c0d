import { useSignal } from '@preact/signals'
import { useEffect, useLayoutEffect } from 'preact/hooks'
import './suggestions.css'
import { PhoneNumber } from '../parts/phone-number.tsx'
import { refine } from '../state/address.ts'
import { count } from '../state/clock.ts'
import type { Facet } from './facet.ts'
import type { FieldParts } from './search-field.tsx'
import { type Suggestion, lastWord, suggestionsFor, typedAfter } from './suggest.ts'

/**
 * Filters and their values under the search field while somebody types. Arrow keys choose; Enter takes the chosen one; Tab takes the chosen one
 * or the first that completes a word; Esc closes. Without a choice, Enter searches for the typed text, as if there were no suggestions.
 */
export function Suggestions({ typed, active, input, facets }: FieldParts & { facets: readonly Facet[] }) {
  const at = useSignal(-1)
  const isClosed = useSignal(false)
  const found = isClosed.value ? [] : suggestionsFor(typed.value, facets)
  const take = (suggestion: Suggestion): void => {
    typed.value = typedAfter(typed.value, suggestion)
    at.value = -1
    if (suggestion.value === null) return
    isClosed.value = true
    refine({ [suggestion.name]: suggestion.value, id: '' })
  }
  useReopening(input, { at, isClosed })
  useKeys(input.form, { found, at, isClosed, word: lastWord(typed.value), take })
  useActive(active, at.value, found.length)
  return (
    <>
      {found.length > 0 && (
        <ul id="suggestions" class="floating suggestions" role="listbox" aria-label="Suggestions" tabIndex={-1}>
          {found.map((suggestion, index) => (
            <Option
              key={`${suggestion.name}:${suggestion.value ?? ''}`}
              suggestion={suggestion}
              id={idOf(index)}
              isChosen={index === at.value}
              take={take}
            />
          ))}
        </ul>
      )}
      <span class="hidden" role="status">
        {found.length === 0 ? '' : `${count(found.length)} ${found.length === 1 ? 'suggestion' : 'suggestions'}`}
      </span>
    </>
  )
}

const idOf = (index: number): string => `suggestion-${index}`

interface OptionProps {
  suggestion: Suggestion
  id: string
  isChosen: boolean
  take: (suggestion: Suggestion) => void
}

const Option = ({ suggestion, id, isChosen, take }: OptionProps) => (
  <li
    id={id}
    class="item"
    role="option"
    aria-selected={isChosen}
    // The field keeps the focus.
    onMouseDown={(event) => event.preventDefault()}
    onClick={() => take(suggestion)}
  >
    <span class="clip suggested">
      <span class={suggestion.value === null ? undefined : 'dim'}>{suggestion.name}:</span>
      {suggestion.label.startsWith('+') ? (
        <PhoneNumber value={suggestion.label} />
      ) : (
        <span class={suggestion.name === 'user' ? 'mask' : undefined}>{suggestion.label}</span>
      )}
    </span>
    <span class="clip dim">{suggestion.hint}</span>
  </li>
)

/** Typing on finds other suggestions, even after Esc. */
function useReopening(input: HTMLInputElement, { at, isClosed }: Pick<KeyParts, 'at' | 'isClosed'>): void {
  useEffect(() => {
    const note = (): void => {
      isClosed.value = false
      at.value = -1
    }
    input.addEventListener('input', note)
    return () => input.removeEventListener('input', note)
  }, [input])
}

/** The field's screen reader announces the chosen suggestion, and sighted people see it. */
function useActive(active: FieldParts['active'], at: number, shown: number): void {
  useLayoutEffect(() => {
    active.value = shown === 0 ? null : at < 0 ? '' : idOf(at)
    document.querySelector(`#${idOf(at)}`)?.scrollIntoView({ block: 'nearest' })
  }, [at, shown])
  useEffect(() => () => void (active.value = null), [])
}

interface KeyParts {
  found: readonly Suggestion[]
  at: { value: number }
  isClosed: { value: boolean }
  word: string
  take: (suggestion: Suggestion) => void
}

/** Keys arrive here before they reach the field. */
function useKeys(form: HTMLFormElement | null, parts: KeyParts): void {
  useLayoutEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (!runKey(event, parts)) return
      event.preventDefault()
      event.stopPropagation()
    }
    form?.addEventListener('keydown', onKey, true)
    return () => form?.removeEventListener('keydown', onKey, true)
  })
}

/** What a key does to the suggestions; false if the key is for the field or the page. */
function runKey({ key, shiftKey, target }: KeyboardEvent, { found, at, isClosed, word, take }: KeyParts): boolean {
  if (!(target instanceof HTMLInputElement)) return false
  const chosen = found[at.value]
  const completing = chosen ?? (word === '' ? undefined : found[0])
  if (key === 'ArrowDown' && isClosed.value) isClosed.value = false
  else if (found.length === 0) return false
  else if (key === 'ArrowDown') at.value = (at.value + 1) % found.length
  else if (key === 'ArrowUp') at.value = (at.value <= 0 ? found.length : at.value) - 1
  else if (key === 'Enter' && chosen !== undefined) take(chosen)
  else if (key === 'Tab' && !shiftKey && completing !== undefined) take(completing)
  else if (key === 'Escape') isClosed.value = true
  else return false
  return true
}
