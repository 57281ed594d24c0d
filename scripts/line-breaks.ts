import { parseSync } from 'oxc-parser'

/** A line that would become longer ends before the next statement. */
const LONG = 120

/**
 * Minified code in short lines, which break before a statement or a member of a class. For an uncaught error, Node.js prints the line that
 * threw it, and that would be the entire program.
 */
export function withLineBreaks(code: string): string {
  const { program, errors } = parseSync('minified.js', code)
  if (errors.length > 0) throw new Error(`Cannot break lines: ${errors[0]?.message}`)
  const starts = [...new Set(startsIn(program))].toSorted((a, b) => a - b)
  let [text, lineStart] = [code.slice(0, starts[0]), 0]
  for (const [index, start] of starts.entries()) {
    const end = starts[index + 1] ?? code.length
    if (end - lineStart > LONG) [text, lineStart] = [`${text}\n`, start]
    text += code.slice(start, end)
  }
  return text
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
