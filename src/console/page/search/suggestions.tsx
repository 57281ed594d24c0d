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
export function Suggestions({ typed, at, isClosed, shown, keys, facets }: FieldParts & { facets: readonly Facet[] }) {
  const found = isClosed.value ? [] : suggestionsFor(typed.value, facets)
  const take = (suggestion: Suggestion): void => {
    typed.value = typedAfter(typed.value, suggestion)
    at.value = -1
    if (suggestion.value === null) return
    isClosed.value = true
    refine({ [suggestion.name]: suggestion.value, id: '' })
  }
  keys.current = (event) => runKey(event, { at, isClosed, found, word: lastWord(typed.value), take })
  useShown({ at, shown, keys }, found.length)
  return (
    <>
      {found.length > 0 && (
        <ul id="suggestions" class="floating suggestions" role="listbox" aria-label="Suggestions" tabIndex={-1}>
          {found.map((suggestion, index) => (
            <Option
              key={`${suggestion.name}:${suggestion.value ?? ''}`}
              suggestion={suggestion}
              id={`suggestion-${index}`}
              isChosen={index === at.value}
              take={() => take(suggestion)}
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

/** The field's screen reader announces the chosen suggestion, and sighted people see it. */
function useShown({ at, shown, keys }: Pick<FieldParts, 'at' | 'shown' | 'keys'>, number: number): void {
  useLayoutEffect(() => {
    shown.value = number
    document.querySelector(`#suggestion-${at.value}`)?.scrollIntoView({ block: 'nearest' })
  }, [at.value, number])
  const end = (): void => {
    shown.value = 0
    keys.current = () => false
  }
  useEffect(() => end, [])
}

interface OptionProps {
  suggestion: Suggestion
  id: string
  isChosen: boolean
  take: () => void
}

const Option = ({ suggestion, id, isChosen, take }: OptionProps) => (
  <li
    id={id}
    class="item"
    role="option"
    aria-selected={isChosen}
    // The field keeps the focus.
    onMouseDown={(event) => event.preventDefault()}
    onClick={take}
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

interface KeyParts extends Pick<FieldParts, 'at' | 'isClosed'> {
  found: readonly Suggestion[]
  word: string
  take: (suggestion: Suggestion) => void
}

/** What a key does to the suggestions; false if the key is for the field or the page. */
function runKey({ key, shiftKey }: KeyboardEvent, { at, isClosed, found, word, take }: KeyParts): boolean {
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
