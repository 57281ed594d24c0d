import type { Signal } from '@preact/signals'
import './search.css'

/** Below a field: why what was typed there cannot be asked for; '' without a reason. */
export const Problem = ({ problem }: { problem: Signal<string> }) =>
  problem.value === '' ? null : (
    <p class="search-problem bad" role="alert">
      {problem.value}
    </p>
  )
