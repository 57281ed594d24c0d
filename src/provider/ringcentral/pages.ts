import { z } from 'zod'
import { LIST_TOO_LONG, type ProviderResult } from '../provider.ts'
import { ownFailure } from './errors.ts'
import { MAX_LIST_BYTES } from './request.ts'
import type { Call, Requester } from './request.ts'

export interface ProviderList {
  path: string
  query: Record<string, string>
}

/**
 * Reads all records of a paged list. A list that is too long is a failure instead of being cut short, because a caller must not conclude that a
 * sent message is absent when its record was cut off.
 */
export async function listAll<T>(
  requester: Requester,
  accessToken: string,
  list: ProviderList,
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
 * `navigation.nextPage` only says that there is another page. Its address is not followed, because a wrong one would receive the access token.
 * Lists of message threads have only `paging`, which need not name the last page: then a full page is not the last.
 */
const pageSchema = <T>(record: z.ZodType<T>) =>
  z
    .looseObject({
      records: z.array(record),
      navigation: z.looseObject({ nextPage: z.unknown().optional() }).optional().catch(undefined),
      paging: z.looseObject({ page: z.int(), totalPages: z.int() }).optional().catch(undefined),
    })
    .transform(({ records, navigation, paging }) => ({
      records,
      hasNext: navigation === undefined ? isFollowed(records, paging) : Boolean(navigation.nextPage),
    }))

const isFollowed = (records: readonly unknown[], paging: { page: number; totalPages: number } | undefined): boolean =>
  paging === undefined ? records.length >= RECORDS_PER_PAGE : paging.page < paging.totalPages
