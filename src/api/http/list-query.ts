import { z } from 'zod'
import { refusing } from '../fields/named-enums.ts'
import { parseDate, parseDateTime } from '../../core/date-time.ts'
import type { ErrorName } from '../../core/errors.ts'
import { DAY_MS, DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE } from '../../core/limits.ts'
import type { FilterSql } from '../../db/list-page.ts'
import { BAD_PARAMETER } from './validated.ts'

// Parts of the lists' query schemas. An empty value counts as absent, and any other that a filter cannot have is refused as `Invalid` and its
// name. `page` and `limit` are clamped, never refused.

/** A filter of a list. */
export interface ListFilter extends FilterSql {
  /** Its schema, with a description and an example. */
  takes: z.ZodType
}

/** The members of a query's schema that are filters. */
export const shapeOf = <Filters extends Readonly<Record<string, ListFilter>>>(filters: Filters) =>
  Object.fromEntries(Object.entries(filters).map(([name, { takes }]) => [name, takes])) as {
    [Name in keyof Filters]: Filters[Name]['takes']
  }

const orAbsent = (value: unknown): unknown => (value === '' ? undefined : value)

export const textFilter = z
  .string()
  .optional()
  .transform((value) => (value === '' ? undefined : value))

/** A `+` that was not escaped arrives as a space. */
export const numberFilter = textFilter
  .transform((value) => value?.replace(/^ /, '+'))
  .meta({ description: 'A phone number', example: '+15555550100' })

export const oneOfFilter = <const T extends Record<string, string>>(values: z.ZodEnum<T>) =>
  z.preprocess(orAbsent, refusing(values, BAD_PARAMETER).optional()).optional()

export const idFilter = (pattern: RegExp, error: string = BAD_PARAMETER) =>
  z.preprocess(orAbsent, z.string().regex(pattern, { error }).optional()).optional()

const MAX_PAGE = 1_000_000

/** The numbers of a conversation. */
export const ownNumberFilter = numberFilter.meta({ description: "The tenant's own number" })
export const contactFilter = numberFilter.meta({ description: 'The other number', example: '+15555550199' })

export const contactEndFilter = idFilter(/^\d{3,15}$/).meta({
  description: 'The last digits of the other number, 3 to 15',
  example: '0199',
})

/** Filters by an id. An unknown id finds nothing. */
export const appIdFilter = textFilter.meta({ description: 'Only those of this app', example: 'app_0123456789abcdef' })
export const tenantIdFilter = textFilter.meta({
  description: 'Only those of this tenant, which can only be your own',
  example: 'tenant_0123456789abcdef',
})
export const triggerIdFilter = textFilter.meta({
  description: 'Only those of this trigger',
  example: 'trg_0123456789abcdef',
})

export const pageNumber = z
  .string()
  .optional()
  .transform((value) => clamp(value, 1, 1, MAX_PAGE))
  .meta({
    description: 'From 1; out of range or not a number is clamped',
    type: 'integer',
    minimum: 1,
    default: 1,
    example: 1,
  })

export const sizeUpTo = (max: number, fallback: number, min = 1) =>
  z
    .string()
    .optional()
    .transform((value) => clamp(value, fallback, min, max))
    .meta({
      description: `${min} to ${max}; out of range or not a number is clamped`,
      type: 'integer',
      minimum: min,
      maximum: max,
      default: fallback,
      example: fallback,
    })

export const pageSize = sizeUpTo(MAX_PAGE_SIZE, DEFAULT_PAGE_SIZE)

const DATE_FORMS = 'ISO 8601 with offset, or a date alone for the whole UTC day; inclusive'

const DATES = [
  { type: 'string', format: 'date-time' },
  { type: 'string', format: 'date' },
]

/** Start of a range, inclusive, as epoch milliseconds. */
export const startDate = dateFilter('start')
/** End of a range, inclusive, as epoch milliseconds. */
export const endDate = dateFilter('end')
export const since = dateFilter('start')

function dateFilter(edge: 'start' | 'end') {
  return textFilter
    .transform((value, context) => {
      if (value === undefined) return undefined
      // A `+` that was not escaped arrives as a space.
      const parsed = parseEdge(value.replace(/ (\d\d:?\d\d)$/, '+$1'), edge)
      if (parsed === null) context.addIssue({ code: 'custom', message: BAD_PARAMETER })
      return parsed ?? undefined
    })
    .meta({
      description: `${edge === 'start' ? 'From' : 'Until'} this time: ${DATE_FORMS}`,
      anyOf: DATES,
      example: edge === 'start' ? '2026-11-01' : '2026-11-21T02:30:00Z',
    })
}

/** A date of a JSON body, as epoch milliseconds, in the same forms. */
export const dateValue = (error: ErrorName, edge: 'start' | 'end') =>
  z
    .string({ error })
    .transform((value, context) => {
      const parsed = parseEdge(value, edge)
      if (parsed === null) context.addIssue({ code: 'custom', message: error })
      return parsed ?? 0
    })
    .meta({ description: DATE_FORMS, anyOf: DATES, example: '2026-11-21T02:00:00Z' })

/** Epoch milliseconds of a date-time with offset. For a date alone, its first or last millisecond in UTC. */
function parseEdge(text: string, edge: 'start' | 'end'): number | null {
  const day = parseDate(text)
  if (day === null) return parseDateTime(text)
  return day + (edge === 'end' ? DAY_MS - 1 : 0)
}

function clamp(value: string | undefined, fallback: number, min: number, max: number): number {
  if (value === undefined || !/^[+-]?\d+$/.test(value.trim())) return fallback
  return Math.min(max, Math.max(min, Number(value)))
}
