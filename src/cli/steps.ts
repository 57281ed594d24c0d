import type { Timeline } from '../client/types.ts'
import { printable } from '../core/printable.ts'
import type { CliContext } from './context.ts'
import { shortTime } from './reasons.ts'
import { table } from './table.ts'
import { widthBeside, wrapped } from './wrap.ts'

type TimelineEntry = Timeline['entries'][number]

/** A table of a message's steps. On a terminal, long details wrap: the reason for a failure must not be cut. */
export function steps(context: CliContext, entries: readonly TimelineEntry[]): string {
  const left = AT_WIDTH + Math.max('step'.length, ...entries.map(({ type }) => type.length)) + 2 * GAP_WIDTH
  const width = widthBeside(context, left)
  return table(
    context,
    entries.flatMap((entry) => {
      const [first = '', ...more] = wrapped(printable(detailsOf(entry)), width)
      return [
        { at: shortTime(entry.at), step: entry.type, details: first },
        ...more.map((details) => ({ at: '', step: '', details })),
      ]
    }),
  )
}

const AT_WIDTH = 'MM-DD HH:MM:SS'.length
const GAP_WIDTH = 2

/** The fields of an entry besides its time and type. */
function detailsOf({ at: _at, type: _type, ...fields }: TimelineEntry): string {
  const details = Object.entries(fields as Record<string, unknown>)
  return details.map(([name, value]) => `${name}=${String(value ?? '-')}`).join(' ') || '-'
}
