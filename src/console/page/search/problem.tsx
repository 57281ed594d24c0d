import type { Signal } from '@preact/signals'
import './search.css'

/** Below a field: why the typed text is not valid; '' if it is. */
export const Problem = ({ problem }: { problem: Signal<string> }) =>
  problem.value === '' ? null : (
    <p class="search-problem bad" role="alert">
      {problem.value}
    </p>
  )
