import { HEAD_BYTES, filledWith, listed } from './input.ts'
import { TEXTS } from './values.ts'

/** Queries for an endpoint whose parameters are known: each with each text, and thousands of unknown ones. */
export function queriesFor(names: readonly string[]): Record<string, string> {
  const texts = Object.entries(TEXTS).map(([name, text]) => [name, encodeURIComponent(unescaped(text))] as const)
  const queries: Record<string, string> = {
    'parameters without a value': listed((n) => n.toString(36), HEAD_BYTES, '&'),
    'the same parameter again and again': listed(() => `${names[0] ?? 'a'}=1`, HEAD_BYTES, '&'),
    ampersands: filledWith('&', HEAD_BYTES),
    'percent signs': filledWith('%', HEAD_BYTES),
    'misspelt parameters': listed((n) => `${names[n % Math.max(1, names.length)] ?? 'a'}${n}=1`, HEAD_BYTES, '&'),
    'long misspelt parameters': listed(
      (n) => `${`${names[n % Math.max(1, names.length)] ?? 'a'}_${'xy'.repeat(20)}`.slice(0, 38)}${(n % 90) + 10}=1`,
      HEAD_BYTES,
      '&',
    ),
  }
  for (const parameter of names)
    for (const [name, text] of texts)
      queries[`${parameter} of ${name}`] = `${parameter}=${filledWith(text, HEAD_BYTES - parameter.length)}`
  return queries
}

/** A text of JSON as itself. */
const unescaped = (text: string): string =>
  text === '\\ud800' ? '\ufffd' : text.startsWith('\\u') ? (JSON.parse(`"${text}"`) as string) : text
