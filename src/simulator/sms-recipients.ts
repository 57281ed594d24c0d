import { badParameter, invalidParameter } from './errors.ts'
import { asObject, type Reply } from './http.ts'

/** Reads the `to` of a send: one to ten numbers in E.164 (RingCentral API reference, "Create SMS message"). */
export function readRecipients(value: unknown): string[] | Reply {
  if (!Array.isArray(value) || value.length === 0) return invalidParameter('to')
  if (value.length > MAX_RECIPIENTS) return badParameter('MSG-381', 'Maximum number of recipients is exceeded')
  const numbers: string[] = []
  for (const entry of value as unknown[]) {
    const number = readNumber(asObject(entry)?.['phoneNumber'])
    if (typeof number !== 'string') return number
    if (numbers.includes(number)) {
      return badParameter('CMN-406', `Duplicate value for parameter to: ${number} found in request`)
    }
    numbers.push(number)
  }
  return numbers
}

const MAX_RECIPIENTS = 10
const E164 = /^\+[1-9]\d{8,14}$/
const EXTENSION_NUMBER = /^\d{3,5}$/
const SHORT_NUMBER = /^\+?\d{3,8}$/

function readNumber(value: unknown): string | Reply {
  if (typeof value !== 'string') return invalidParameter('to.phoneNumber')
  if (E164.test(value)) return value
  if (EXTENSION_NUMBER.test(value)) {
    return badParameter('MSG-246', 'Sending SMS from/to extension numbers is not available')
  }
  if (SHORT_NUMBER.test(value)) return badParameter('MSG-247', 'Sending SMS to short numbers is not available')
  return normalised(value) ?? invalidParameter('to')
}

/** North American numbers may come without `+1`. */
function normalised(value: string): string | null {
  if (/^1\d{10}$/.test(value)) return `+${value}`
  return /^[2-9]\d{9}$/.test(value) ? `+1${value}` : null
}
