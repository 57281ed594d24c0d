import type { CliContext } from './context.ts'

/** Text never becomes narrower than this, even on a tiny terminal. */
const MIN_WIDTH = 20

/** Lines of whole words, at most `width` columns wide. A word that is longer than a line is broken. */
export function wrapped(text: string, width: number): string[] {
  return wordLines(text, width).flatMap((line) => broken(line, width))
}

/** Lines of whole words. A word that is longer than a line stays whole, because people copy it. */
export function wordLines(text: string, width: number): string[] {
  const lines = ['']
  for (const word of text.split(' ')) {
    const line = lines.at(-1) ?? ''
    if (line === '') lines[lines.length - 1] = word
    else if (Bun.stringWidth(`${line} ${word}`) <= width) lines[lines.length - 1] = `${line} ${word}`
    else lines.push(word)
  }
  return lines
}

/** The columns left beside an indentation. Without a terminal everything stays on one line, as programs read it. */
export const widthBeside = ({ columns }: CliContext, indent: number): number =>
  columns === null ? Infinity : Math.max(MIN_WIDTH, columns - indent)

/** A line whose text wraps beside its head if the terminal is too narrow. */
export function hanging(context: CliContext, head: string, text: string): string {
  const indent = Bun.stringWidth(head)
  const lines = wrapped(text, widthBeside(context, indent))
  return `${head}${lines.join(`\n${' '.repeat(indent)}`)}\n`
}

function broken(line: string, width: number): string[] {
  if (Bun.stringWidth(line) <= width) return [line]
  const first = startOf(line, width)
  return [first, ...broken(line.slice(first.length), width)]
}

/** The first characters of a text that fit. */
export function startOf(text: string, width: number): string {
  let kept = ''
  for (const character of text) {
    if (kept !== '' && Bun.stringWidth(kept + character) > width) break
    kept += character
  }
  return kept
}
