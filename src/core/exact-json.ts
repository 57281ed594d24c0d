/**
 * JSON whose numbers stay as they were written. JavaScript would write some of them in another way: `1.0`, `1e3`, `-0`, an id above 2^53.
 * Such a number is a raw value of the "JSON.parse source text access" proposal, which `JSON.stringify` writes digit for digit. Errors: `SyntaxError`.
 */
export const parseExactJson = (text: string): unknown => NATIVE.parse(text, exactNumber)

/** The digits of a number that `parseExactJson` has kept as they were written; null for any other value. */
export const digitsOf = (value: unknown): string | null =>
  typeof value === 'object' && value !== null && NATIVE.isRawJSON(value) ? value.rawJSON : null

const exactNumber = (_name: string, value: unknown, { source }: { source?: string }): unknown =>
  typeof value === 'number' && source !== undefined && String(value) !== source ? NATIVE.rawJSON(source) : value

/** TypeScript 7.0 does not know these members yet. */
interface NativeJson {
  parse(text: string, reviver: typeof exactNumber): unknown
  rawJSON(text: string): RawJson
  isRawJSON(value: object): value is RawJson
}

interface RawJson {
  readonly rawJSON: string
}

const NATIVE = JSON as unknown as NativeJson
