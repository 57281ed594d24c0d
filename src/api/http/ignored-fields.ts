import { z } from 'zod'
import { similar } from '../../core/edit-distance.ts'
import type { Route } from './route.ts'

/** Names that other APIs use for a field of ours and that resemble it too little. */
const SYNONYMS: Readonly<Record<string, string>> = {
  scheduledat: 'sendAt',
  scheduleat: 'sendAt',
  scheduledfor: 'sendAt',
  scheduledtime: 'sendAt',
  sendtime: 'sendAt',
  deliverat: 'sendAt',
  webhook: 'webhookUrl',
  callback: 'callbackUrl',
}

/** Longer names, and those with other characters, are no slips. They must not get into a header either. */
const NAME = /^[\w.-]{1,40}$/

/** Of a body with thousands of unknown fields only the first are compared. */
const MAX_COMPARED = 20

type Report = (field: string, meant: string) => void

/** Looks for fields that an endpoint ignores, but that resemble one that it knows. Calls `report` for each. */
export interface IgnoredFields {
  inBody(given: unknown, report: Report): void
  inQuery(given: unknown, report: Report): void
}

export const ignoredFields = ({ body, query }: Route): IgnoredFields => ({
  inBody: finderOf(body),
  inQuery: finderOf(query),
})

function finderOf(schema: z.ZodType | undefined): (given: unknown, report: Report) => void {
  if (!(schema instanceof z.ZodObject)) return () => undefined
  const known = new Set(Object.keys(schema.shape))
  return (given, report) => {
    if (typeof given !== 'object' || given === null) return
    let compared = 0
    for (const field in given) {
      // Most requests have no other field.
      if (known.has(field)) continue
      if (++compared > MAX_COMPARED) return
      const meant = meantBy(field, known)
      if (meant !== null) report(field, meant)
    }
  }
}

function meantBy(field: string, known: ReadonlySet<string>): string | null {
  if (!NAME.test(field)) return null
  const bare = bareName(field)
  const synonym = SYNONYMS[bare]
  if (synonym !== undefined && known.has(synonym)) return synonym
  const bareNames = new Map([...known].map((name) => [bareName(name), name]))
  const same = bareNames.get(bare)
  if (same !== undefined) return same
  // Short names resemble many others.
  const long = [...bareNames.keys()].filter((name) => name.length > 4)
  return bareNames.get(similar(bare, long) ?? '') ?? null
}

/** `send_at`, `send-at` and `SendAt` are the same. */
const bareName = (name: string): string => name.replaceAll(/[^a-zA-Z0-9]/g, '').toLowerCase()
