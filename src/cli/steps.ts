import type { Timeline } from '../client/types.ts'
import { printable } from '../core/printable.ts'
import type { CliContext } from './context.ts'
import { shortTime } from './reasons.ts'
import { table } from './table.ts'

type Entry = Timeline['entries'][number]

/** A table of a message's steps. On a terminal long details go on below: why something failed must not be cut. */
export function steps(context: CliContext, entries: readonly Entry[]): string {
  const left = AT_WIDTH + Math.max('step'.length, ...entries.map(({ type }) => type.length)) + 2 * GAP_WIDTH
  const width = context.columns === null ? Infinity : Math.max(MIN_WIDTH, context.columns - left)
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
const MIN_WIDTH = 20

/** The fields of an entry besides its time and type. */
function detailsOf({ at: _at, type: _type, ...fields }: Entry): string {
  const details = Object.entries(fields as Record<string, unknown>)
  return details.map(([name, value]) => `${name}=${String(value ?? '-')}`).join(' ') || '-'
}

/** Lines of whole words; a word that is longer than a line is broken. */
function wrapped(text: string, width: number): string[] {
  const lines = ['']
  for (const word of text.split(' ')) {
    const line = lines.at(-1) ?? ''
    if (line === '') lines[lines.length - 1] = word
    else if (Bun.stringWidth(`${line} ${word}`) <= width) lines[lines.length - 1] = `${line} ${word}`
    else lines.push(word)
  }
  return lines.flatMap((line) => broken(line, width))
}

function broken(line: string, width: number): string[] {
  if (Bun.stringWidth(line) <= width) return [line]
  return [line.slice(0, width), ...broken(line.slice(width), width)]
}
