import { param, refine } from '../state/address.ts'
import { DAY, MONTH, RANGES, type Range } from './ranges.ts'

/** The range of the address. */
export const rangeShown = (): Range => RANGES.find(({ name }) => name === param('range')) ?? DAY

/** Chooses the range of the figures. `month` is the name of the longest one. */
export const Ranges = ({ month = MONTH.label }: { month?: string }) => (
  <div class="segmented" role="group" aria-label="Range of the figures">
    {RANGES.map((range) => (
      <button
        type="button"
        aria-pressed={range === rangeShown()}
        onClick={() => refine({ range: range === DAY ? '' : range.name })}
      >
        {range === MONTH ? month : range.label}
      </button>
    ))}
  </div>
)
