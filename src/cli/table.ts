import { printable } from '../core/printable.ts'
import type { CliContext } from './context.ts'
import { paint, paintState } from './style.ts'
import { startOf, widthBeside, wordLines } from './wrap.ts'

const GAP = '  '
/** No column becomes narrower than this. */
const MIN_WIDTH = 8

type TableRow = Readonly<Record<string, string>>

/**
 * A table of the rows, with a line for each. On a terminal, long texts are cut to fit; ids and numbers stay whole, because people copy them. A
 * table that cannot fit becomes a block of lines for each row.
 */
export function table(context: CliContext, rows: readonly TableRow[]): string {
  const shown = rows.map((row) =>
    Object.fromEntries(Object.entries(row).map(([name, text]) => [printable(name), printable(text)])),
  )
  const names = [...new Set(shown.flatMap((row) => Object.keys(row)))]
  const widths = fit(
    names.map((name) => ({
      width: Math.max(...[name, ...shown.map((row) => row[name] ?? '')].map((text) => Bun.stringWidth(text))),
      canShrink: shown.some((row) => !isWhole(row[name] ?? '')),
    })),
    context.columns,
  )
  if (widths === null) return shown.map((row) => lines(context, row)).join('\n')
  const line = (cells: string[], style: (text: string) => string): string =>
    cells
      .map((text, index) => style(padded(text, widths[index] ?? 0)))
      .join(GAP)
      .trimEnd()
  const texts = [
    paint(context, line(names, String), 'grey'),
    ...shown.map((row) =>
      line(
        names.map((name) => row[name] ?? ''),
        (text) => paintState(context, text),
      ),
    ),
  ]
  return `${texts.join('\n')}\n`
}

/** Lines of name and value. On a terminal, long values wrap; ids, addresses and keys stay whole. */
export function lines(context: CliContext, fields: TableRow): string {
  const width = Math.max(0, ...Object.keys(fields).map((name) => name.length))
  const indent = width + GAP.length
  return Object.entries(fields)
    .map(([name, value]) => {
      const text = wordLines(printable(value), widthBeside(context, indent)).join(`\n${' '.repeat(indent)}`)
      return `${printable(name).padEnd(width)}${GAP}${paintState(context, text)}\n`
    })
    .join('')
}

/** A value that is useless once it is cut. */
const isWhole = (text: string): boolean => /^(\S+_[0-9a-f]{12,}\S*|sgw_\S{8}|[\d\s:.+→←-]*|[a-z_]{1,14})$/.test(text)

/** The widths of the columns, at most `columns` in all; null if they cannot be that narrow. */
function fit(columns: readonly { width: number; canShrink: boolean }[], available: number | null): number[] | null {
  const widths = columns.map(({ width }) => width)
  const total = (): number => widths.reduce((sum, width) => sum + width, GAP.length * (widths.length - 1))
  while (available !== null && total() > available) {
    const widest = columns.reduce(
      (best, { canShrink }, index) => (canShrink && (widths[index] ?? 0) > (widths[best] ?? 0) ? index : best),
      -1,
    )
    const width = widths[widest] ?? 0
    if (width <= MIN_WIDTH) return null
    widths[widest] = width - 1
  }
  return widths
}

function padded(text: string, width: number): string {
  const shown = cut(text, width)
  return shown + ' '.repeat(Math.max(0, width - Bun.stringWidth(shown)))
}

/** A text that fits, with an ellipsis if something is missing. */
export const cut = (text: string, width: number): string =>
  Bun.stringWidth(text) > width ? `${startOf(text, width - 1)}…` : text
