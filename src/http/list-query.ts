import { z } from 'zod'
import type { ErrorName } from '../core/errors.ts'
import { DAY_MS, DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE } from '../core/limits.ts'

/** Pieces of the lists' query schemas. An empty value is as if absent; `page` and `limit` are clamped, never refused. */

const given = z
  .string()
  .optional()
  .transform((value) => (value === '' ? undefined : value))

export const textFilter = given

/** A `+` that was not escaped arrives as a space. */
export const numberFilter = given.transform((value) => value?.replace(/^ /, '+'))

export const oneOfFilter = <const T extends readonly [string, ...string[]]>(values: T, error: ErrorName) =>
  given.pipe(z.enum(values, { error }).optional())

export const idFilter = (pattern: RegExp, error: ErrorName) =>
  given.pipe(z.string().regex(pattern, { error }).optional())

const MAX_PAGE = 1_000_000

export const pageNumber = z
  .string()
  .optional()
  .transform((value) => clamp(value, 1, 1, MAX_PAGE))
  .meta({ description: 'From 1; out of range or not a number is clamped', type: 'integer', default: 1 })

export const sizeUpTo = (max: number, fallback: number) =>
  z
    .string()
    .optional()
    .transform((value) => clamp(value, fallback, 1, max))
    .meta({
      description: `1 to ${max}; out of range or not a number is clamped`,
      type: 'integer',
      default: fallback,
    })

export const pageSize = sizeUpTo(MAX_PAGE_SIZE, DEFAULT_PAGE_SIZE)

const DATE_FORMS = 'ISO 8601 with offset, or a date alone for the whole UTC day; inclusive'

/** Start of a range, inclusive, as epoch milliseconds. */
export const startDate = dateFilter('badStartDate', 'start')
/** End of a range, inclusive, as epoch milliseconds. */
export const endDate = dateFilter('badEndDate', 'end')

function dateFilter(error: ErrorName, edge: 'start' | 'end') {
  return given
    .transform((value, context) => {
      if (value === undefined) return undefined
      const parsed = parseDate(value, edge)
      if (parsed === null) context.addIssue({ code: 'custom', message: error })
      return parsed ?? undefined
    })
    .meta({
      description: DATE_FORMS,
      type: 'string',
      format: 'date-time',
    })
}

/** A date of a JSON body, as epoch milliseconds, in the same forms. */
export const dateValue = (error: ErrorName, edge: 'start' | 'end') =>
  z
    .string({ error })
    .transform((value, context) => {
      const parsed = parseDate(value, edge)
      if (parsed === null) context.addIssue({ code: 'custom', message: error })
      return parsed ?? 0
    })
    .meta({ description: DATE_FORMS, type: 'string', format: 'date-time' })

const DATE = /^(\d{4})-(\d{2})-(\d{2})$/
const DATE_TIME =
  /^(\d{4})-(\d{2})-(\d{2})T([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d{1,9})?)?(Z|[+-]([01]\d|2[0-3]):?[0-5]\d)$/i

/** Epoch milliseconds of a date-time with offset; of a date alone its first or last millisecond in UTC. */
function parseDate(text: string, edge: 'start' | 'end'): number | null {
  const value = text.replace(/ (\d\d:?\d\d)$/, '+$1')
  const match = DATE.exec(value) ?? DATE_TIME.exec(value)
  if (match === null || !isCalendarDay(Number(match[1]), Number(match[2]), Number(match[3]))) return null
  if (DATE.test(value)) return Date.parse(`${value}T00:00:00.000Z`) + (edge === 'end' ? DAY_MS - 1 : 0)
  const parsed = Date.parse(value.toUpperCase().replace(/([+-]\d\d)(\d\d)$/, '$1:$2'))
  return Number.isNaN(parsed) ? null : parsed
}

/** `Date.UTC` would read years below 100 as 19xx. */
function isCalendarDay(year: number, month: number, day: number): boolean {
  const date = new Date(0)
  date.setUTCFullYear(year, month - 1, day)
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day
}

function clamp(value: string | undefined, fallback: number, min: number, max: number): number {
  if (value === undefined || !/^[+-]?\d+$/.test(value.trim())) return fallback
  return Math.min(max, Math.max(min, Number(value)))
}
