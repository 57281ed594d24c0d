import { z } from 'zod'
import { LIST_TOO_LONG, type ProviderResult } from '../provider.ts'
import { ownFailure } from './errors.ts'
import { MAX_LIST_BYTES } from './request.ts'
import type { Call, Requester } from './request.ts'

export interface List {
  path: string
  query: Record<string, string>
}

/**
 * All records of a paged list. A list that is too long is a failure, not a shortened list: who looks for a sent
 * message must not conclude from its absence.
 */
export async function listAll<T>(
  requester: Requester,
  accessToken: string,
  list: List,
  record: z.ZodType<T>,
): Promise<ProviderResult<T[]>> {
  const schema = pageSchema(record)
  const records: T[] = []
  for (let page = 1; page <= MAX_PAGES; page += 1) {
    const query = { ...list.query, page: String(page), perPage: String(RECORDS_PER_PAGE) }
    const call: Call = { method: 'GET', path: list.path, query, as: { accessToken }, maxAnswerBytes: MAX_LIST_BYTES }
    const answered = await requester.read(call, schema)
    if (!answered.ok) return answered
    records.push(...answered.value.records)
    if (!answered.value.hasNext) return { ok: true, value: records }
  }
  return { ok: false, failure: { ...ownFailure('ambiguous', TOO_LONG), code: LIST_TOO_LONG } }
}

/** The provider's maximum. */
const RECORDS_PER_PAGE = 1000
const MAX_PAGES = 20
const TOO_LONG = `The provider's list is longer than ${MAX_PAGES * RECORDS_PER_PAGE} records`

/**
 * `navigation.nextPage` only says that there is another page: its address is not followed, because the access token
 * would go wherever it points.
 */
const pageSchema = <T>(record: z.ZodType<T>) =>
  z
    .looseObject({
      records: z.array(record),
      navigation: z.looseObject({ nextPage: z.unknown().optional() }).optional().catch(undefined),
    })
    .transform((page) => ({ records: page.records, hasNext: Boolean(page.navigation?.nextPage) }))
