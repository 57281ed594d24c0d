import { isNumber } from '../thread/contact-forms.ts'

/** A number as people write it. A date is not one. */
const WRITTEN = /^\+?[\d\s().-]+$/
const DATE = /^\d{4}-\d\d-\d\d$/
/** At least this many digits are the end of a number. */
const ENDS = /^\d{3,15}$/

/** The filter that finds a contact by the typed text: a full number with its country code, or the last digits. Null if the text is neither. */
export function typedNumber(typed: string): { contact: string } | { ends: string } | null {
  const text = typed.trim()
  if (!WRITTEN.test(text) || DATE.test(text)) return null
  const digits = text.replaceAll(/\D/g, '')
  const whole = `+${digits}`
  if (text.startsWith('+') && isNumber(whole)) return { contact: whole }
  return ENDS.test(digits) ? { ends: digits } : null
}

/** The typed words without the quotes that keep digits from being a number. */
export const unquoted = (text: string): string => /^["“](.+?)["”]$/.exec(text)?.[1] ?? text
