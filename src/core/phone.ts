/** E.164 as the gateway accepts it: `+`, then 9–15 ASCII digits, the first not 0. Input is neither trimmed nor repaired. */
const E164 = /^\+[1-9]\d{8,14}$/
/** The same for schemas. `[0-9]`, because `\d` means more than ASCII digits elsewhere. */
export const E164_PATTERN = E164.source.replace('\\d', '[0-9]')

export const isE164 = (value: string): boolean => E164.test(value)

/** A number as logs may show it: `+1555***1234`. */
export function maskNumber(number: string): string {
  return number.length < 9 ? '***' : `${number.slice(0, number.length - 7)}***${number.slice(-4)}`
}
