import { z } from 'zod'
import { type ApiError, type ErrorName, apiError, errorText, invalidParameter, isErrorName } from '../../core/errors.ts'

/** What a rule of a query's schema has in place of an error's name: the error is `Invalid` and the name of the parameter. */
export const BAD_PARAMETER = 'badParameter'

/** Parses a value; throws the error that comes first in `priority`. */
export function validated(schema: z.ZodType | undefined, value: unknown, priority: readonly ErrorName[] = []): unknown {
  if (schema === undefined) return undefined
  const result = schema.safeParse(value)
  if (result.success) return result.data
  const names = result.error.issues.map(({ message }) => message)
  const named = priority.find((name) => names.includes(name))
  throw named === undefined ? firstOf(result.error.issues) : apiError(named)
}

function firstOf(issues: readonly z.core.$ZodIssue[]): ApiError {
  for (const { message, path } of issues) {
    if (message === BAD_PARAMETER) return invalidParameter(String(path[0]))
    if (isErrorName(message)) return apiError(message)
  }
  return apiError('badJson')
}

/** A value that only a filter which takes any text takes. */
const NO_VALUE = '\u0000'

/** The texts by which a query refuses a value of one of its filters. */
export function refusalsOf(query: z.ZodType | undefined): string[] {
  if (!(query instanceof z.ZodObject)) return []
  return Object.entries(query.shape).flatMap(([name, schema]) => {
    const message = (schema as z.ZodType).safeParse(NO_VALUE).error?.issues[0]?.message
    if (message === BAD_PARAMETER) return invalidParameter(name).message
    return message !== undefined && isErrorName(message) ? errorText(message) : []
  })
}
