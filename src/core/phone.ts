/** E.164 as the gateway accepts it: `+`, then 9–15 ASCII digits, the first not 0. Input is neither trimmed nor repaired. */
const E164 = /^\+[1-9]\d{8,14}$/
/** The same for schemas. `[0-9]`, because `\d` means more than ASCII digits elsewhere. */
export const E164_PATTERN = E164.source.replace('\\d', '[0-9]')

export const isE164 = (value: string): boolean => E164.test(value)

/** Digits with the usual punctuation of numbers. */
const WRITTEN_NUMBER = /^\+?[\d ().-]+$/
const COUNTRY_AND_NUMBER = /^[1-9]\d{10,14}$/
const AMERICAN = /^[2-9]\d{9}$/

/**
 * A number from the provider's records in E.164, if its digits are unambiguous: `18661234567`, `+1 (866) 123-4567`. Ambiguous numbers such as
 * `(866)123-4567`, without a country, stay unchanged, and so do short codes and names.
 */
export function e164Of(written: string): string {
  if (isE164(written) || !WRITTEN_NUMBER.test(written)) return written
  const digits = digitsOf(written)
  const number = `+${digits}`
  return (written.startsWith('+') || COUNTRY_AND_NUMBER.test(digits)) && isE164(number) ? number : written
}

/** The same for a number that texts with one of the tenant's: ten digits are American if the tenant's number is. */
export function e164Beside(own: string, written: string): string {
  const number = e164Of(written)
  const digits = digitsOf(number)
  const isAmerican = own.startsWith('+1') && WRITTEN_NUMBER.test(number) && !number.startsWith('+')
  return isAmerican && AMERICAN.test(digits) ? `+1${digits}` : number
}

/** Enough to distinguish the numbers of a country. */
const DISTINCT_DIGITS = 9

/** Whether both are the same number. A number that is not in E.164 is compared by its last digits. */
export function isSameNumber(one: string, other: string): boolean {
  if (one === other) return true
  if ((isE164(one) && isE164(other)) || !WRITTEN_NUMBER.test(one) || !WRITTEN_NUMBER.test(other)) return false
  const end = digitsOf(one).slice(-DISTINCT_DIGITS)
  return end.length === DISTINCT_DIGITS && digitsOf(other).endsWith(end)
}

const digitsOf = (written: string): string => written.replaceAll(/\D/g, '')

/** A number as logs may show it: `+1555***1234`. */
export function maskNumber(number: string): string {
  return number.length < 9 ? '***' : `${number.slice(0, number.length - 7)}***${number.slice(-4)}`
}
