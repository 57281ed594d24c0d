import { BODY_BYTES, filledWith, listed } from './input.ts'
import { jsonValues } from './values.ts'

/** Bodies of at most `bytes` for an endpoint whose fields are known: each field with each value, and bodies that are nothing of the kind. */
export function bodiesFor(example: Readonly<Record<string, unknown>>, bytes = BODY_BYTES): Record<string, string> {
  const bodies = { ...unreadable(bytes), ...unknownFields(example, bytes) }
  for (const field of Object.keys(example)) {
    const others = JSON.stringify({ ...example, [field]: undefined })
    const start = others === '{}' ? '{' : `${others.slice(0, -1)},`
    for (const [name, value] of Object.entries(jsonValues(bytes - others.length - field.length - 10)))
      bodies[`${field} of ${name}`] = `${start}"${field}":${value}}`
  }
  for (const [name, value] of Object.entries(jsonValues(bytes - 10))) bodies[`body of ${name}`] = value
  return bodies
}

/** Fields that nobody knows: those that resemble known ones are compared with all of them. */
function unknownFields(example: Readonly<Record<string, unknown>>, bytes: number): Record<string, string> {
  const json = JSON.stringify(example).slice(0, -1)
  const start = json === '{' ? json : `${json},`
  const room = bytes - json.length - 10
  const names = Object.keys(example)
  const misspelt = (n: number): string =>
    `${names[n % names.length] ?? ''}_${'xy'.repeat(18)}`.slice(0, 38) + ((n % 90) + 10)
  return {
    'long misspelt fields': `${start}${listed((n) => `"${misspelt(n)}":1`, room)}}`,
    'misspelt fields': `${start}${listed((n) => `"${names[n % names.length] ?? ''}${n}":1`, room)}}`,
    'unknown fields and a long list': `${start}"list":[${listed(() => '1', 1000)}],${listed((n) => `"${n.toString(36)}x":1`, room - 1010)}}`,
  }
}

/** Texts that are not JSON, which the log explains outside production. */
const unreadable = (bytes: number): Record<string, string> => ({
  'nested too deep': filledWith('[', bytes),
  'nested objects without an end': filledWith('{"a":', bytes),
  'quotes without an end': `${filledWith('"', bytes - 1)}x`,
  'backslashes in quotes': `{"a":"${filledWith('\\\\', bytes - 10)}`,
  'a form': filledWith('a=1&', bytes),
  'names of a form without an end': filledWith('a', bytes),
  dashes: filledWith('-', bytes),
  'single quotes': filledWith("{'a':", bytes),
  'raw line breaks': `{"a":"${filledWith('\n', bytes - 10)}"}`,
  'blanks only': filledWith(' ', bytes),
  'blanks and a bracket': `${filledWith(' ', bytes - 1)}{`,
  'texts and a raw line break': `[${listed(() => '"a"', bytes - 20)},"\n"]`,
})
