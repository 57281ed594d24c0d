import { z } from 'zod'

/**
 * An id as text. REST bodies have ids as JSON numbers, events and accounts as strings, and the reverse also occurs. A number that a double
 * cannot hold exactly is refused, because it would name a different record.
 */
export const wireId = z.custom<string | number>(isWireId).transform(String)

export function isWireId(value: unknown): value is string | number {
  return typeof value === 'string' ? ID.test(value) : Number.isSafeInteger(value)
}

const ID = /^[\x21-\x7e]{1,128}$/

/** ISO 8601 with a zone, as the API sends all times, into epoch milliseconds. */
export const wireTime = z
  .string()
  .regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)$/)
  .transform((text) => Date.parse(text))
  .pipe(z.number())

/** A hundred years. */
const MAX_LIFETIME_SECONDS = 100 * 365.25 * 86_400
const seconds = z.number().positive().max(MAX_LIFETIME_SECONDS)

/** A lifetime. A value of another type, or one that gives no valid date, counts as `usual`. */
export const wireSeconds = (usual: number) => seconds.catch(usual)

/** An optional lifetime; null also for values that `wireSeconds` does not accept. */
export const optionalSeconds = seconds.nullable().catch(null)

/** An optional member: a value of another type counts as absent. */
export const optionalText = z.string().optional().catch(undefined)

/** Like {@link optionalText}, for numbers and extension numbers that may come as JSON numbers; empty counts as absent. */
export const optionalNumber = z
  .unknown()
  .transform((value): string | undefined => {
    if (typeof value !== 'string' && !Number.isFinite(value)) return undefined
    return storableText(String(value).trim(), MAX_PHONE_NUMBER_LENGTH) || undefined
  })
  .optional()

/** UTF-16 units. The provider's limits are 1000 per SMS and 20 per number; these only keep out garbage. */
export const MAX_MESSAGE_TEXT_LENGTH = 10_000
const MAX_PHONE_NUMBER_LENGTH = 64

/**
 * A text that SQLite and JSON store unchanged: without NUL and lone surrogates, at most `maxLength` UTF-16 units, and no surrogate
 * pair cut in two.
 */
export function storableText(text: string, maxLength: number): string {
  const start = text.slice(0, maxLength + 1).replaceAll('\0', '\uFFFD')
  if (start.length <= maxLength) return start.toWellFormed()
  const endsInPair = isHighSurrogate(start, maxLength - 1) && isLowSurrogate(start, maxLength)
  return start.slice(0, endsInPair ? maxLength - 1 : maxLength).toWellFormed()
}

function isHighSurrogate(text: string, at: number): boolean {
  const unit = text.charCodeAt(at)
  return unit >= 0xd800 && unit <= 0xdbff
}

function isLowSurrogate(text: string, at: number): boolean {
  const unit = text.charCodeAt(at)
  return unit >= 0xdc00 && unit <= 0xdfff
}
