import { randomUUID } from 'node:crypto'

/**
 * JSON whose numbers stay as written. JavaScript would write some of them differently: `1.0`, `1e3`, `-0`, an id above 2^53. Such a number
 * becomes a text that begins with a mark: read it with `digitsOf`, and write values with `writeExactJson`. Errors: `SyntaxError`.
 */
export function parseExactJson(text: string): unknown {
  const value: unknown = JSON.parse(text)
  const marked = withMarkedNumbers(text)
  // A reviver would see every value of a body, which takes ten times as long as parsing it.
  return marked === text ? value : JSON.parse(marked)
}

/** The digits of a number as written, from `parseExactJson`; null for any other value. */
export const digitsOf = (value: unknown): string | null =>
  typeof value === 'string' && value.startsWith(MARK) ? value.slice(MARK.length) : null

/** JSON of a value from `parseExactJson`, with each number digit for digit. */
export function writeExactJson(value: unknown): string {
  const text = JSON.stringify(value)
  return text.includes(MARK) ? text.replaceAll(MARKED_NUMBER, '$1') : text
}

/** Random, so nobody can put it into a text. */
const MARK = randomUUID().slice(0, 8)
const MARKED_NUMBER = new RegExp(`"${MARK}([^"]*)"`, 'g')

/** Valid JSON in which each number that JavaScript might write differently is a text that begins with the mark. */
function withMarkedNumbers(text: string): string {
  let marked = ''
  let from = 0
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    if (unit === QUOTE) at = endOfText(text, at)
    if (!isOfNumber(unit)) continue
    const end = endOfNumber(text, at)
    const number = text.slice(at, end)
    if (!AS_WRITTEN.test(number)) {
      marked += `${text.slice(from, at)}"${MARK}${number}"`
      from = end
    }
    at = end - 1
  }
  return marked + text.slice(from)
}

const [QUOTE, BACKSLASH, PLUS, MINUS, DOT, ZERO, NINE, E, SMALL_E] = [
  0x22, 0x5c, 0x2b, 0x2d, 0x2e, 0x30, 0x39, 0x45, 0x65,
]
/** A number without sign, fraction and exponent that a double holds. */
const AS_WRITTEN = /^\d{1,15}$/

/** JSON words other than numbers also have an `e`, but none begins with one of these. */
const isOfNumber = (unit: number): boolean => (unit >= ZERO && unit <= NINE) || unit === MINUS

function endOfNumber(text: string, start: number): number {
  let end = start + 1
  for (; end < text.length; end++) {
    const unit = text.charCodeAt(end)
    if (!isOfNumber(unit) && unit !== DOT && unit !== E && unit !== SMALL_E && unit !== PLUS) break
  }
  return end
}

/** The end of the quoted text that begins at `start`. */
function endOfText(text: string, start: number): number {
  let at = start + 1
  for (let unit = text.charCodeAt(at); unit !== QUOTE; unit = text.charCodeAt(++at)) if (unit === BACKSLASH) at++
  return at
}
