import { z } from 'zod'
import { similar } from '../../core/edit-distance.ts'
import { bareName, isOfOtherApis, knownByOtherName } from './foreign-names.ts'
import type { Route } from './route.ts'

/** Longer names, and those with other characters, are not typos. They must not get into a header either. */
const NAME = /^[\w.-]{1,40}$/

/** If a body has thousands of unknown fields, only the first are compared. */
const MAX_COMPARED = 20

/** `meant` is the field that was probably meant; null if the endpoint has none that it could be. */
type Report = (field: string, meant: string | null) => void

/** Looks for fields that an endpoint ignores, although their sender expects an effect. Calls `report` for each. */
export interface IgnoredFields {
  inBody(given: unknown, report: Report): void
  inQuery(given: unknown, report: Report): void
}

/** `fieldsElsewhere` are the fields of other endpoints: `name` has an effect when registering an app, but not when changing one. */
export const ignoredFields = ({ body, query }: Route, fieldsElsewhere: ReadonlySet<string>): IgnoredFields => ({
  inBody: finderOf(body, fieldsElsewhere),
  inQuery: finderOf(query, fieldsElsewhere),
})

/** The fields of the bodies that apps send. */
export const bodyFields = (routes: readonly Route[]): ReadonlySet<string> =>
  new Set(routes.filter(({ auth }) => auth !== 'operator').flatMap(({ body }) => namesIn(body)))

const namesIn = (schema: z.ZodType | undefined): string[] =>
  schema instanceof z.ZodObject ? Object.keys(schema.shape) : []

function finderOf(
  schema: z.ZodType | undefined,
  fieldsElsewhere: ReadonlySet<string>,
): (given: unknown, report: Report) => void {
  if (!(schema instanceof z.ZodObject)) return () => undefined
  const known = new Set(namesIn(schema))
  return (given, report) => {
    if (typeof given !== 'object' || given === null || Array.isArray(given)) return
    let compared = 0
    for (const field in given) {
      // Most requests have no other field.
      if (known.has(field)) continue
      if (++compared > MAX_COMPARED) return
      if (!NAME.test(field) || isEmpty(given, field)) continue
      const meant = meantBy(field, known)
      if (meant !== null || fieldsElsewhere.has(field) || isOfOtherApis(bareName(field))) report(field, meant)
    }
  }
}

function meantBy(field: string, known: ReadonlySet<string>): string | null {
  const bare = bareName(field)
  const synonym = knownByOtherName(bare, known)
  if (synonym !== null) return synonym
  const bareNames = new Map([...known].map((name) => [bareName(name), name]))
  const same = bareNames.get(bare)
  if (same !== undefined) return same
  // Short names resemble many others.
  const long = [...bareNames.keys()].filter((name) => name.length > 4)
  return bareNames.get(similar(bare, long) ?? '') ?? null
}

/** Apprise and others always send an empty list of attachments, for example. */
function isEmpty(given: object, field: string): boolean {
  const value = (given as Readonly<Record<string, unknown>>)[field]
  return value === null || value === '' || (Array.isArray(value) && value.length === 0)
}
