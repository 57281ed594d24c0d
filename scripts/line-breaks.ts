import { parseSync } from 'oxc-parser'

/**
 * Minified code with each statement and each member of a class on a line of its own. Of an error that nobody catches Node.js prints the
 * line that threw it, and that would be the entire program.
 */
export function withLineBreaks(code: string): string {
  const { program, errors } = parseSync('minified.js', code)
  if (errors.length > 0) throw new Error(`Cannot break lines: ${errors[0]?.message}`)
  const starts = [...new Set(startsIn(program))].toSorted((a, b) => a - b)
  const lines = starts.map((start, index) => code.slice(start, starts[index + 1]))
  return `${code.slice(0, starts[0])}${lines.join('\n')}`
}

/** Where statements and members begin, at every depth. A line break before one never changes what it means. */
function startsIn(node: unknown): number[] {
  if (typeof node !== 'object' || node === null) return []
  const own = Object.entries(node).flatMap(([name, value]) =>
    Array.isArray(value) && (name === 'body' || name === 'consequent')
      ? value.map(({ start }: { start: number }) => start)
      : [],
  )
  return [...own, ...Object.values(node).flatMap(startsIn)]
}
