import { setImmediate as nextTick } from 'node:timers/promises'
import { z } from 'zod'
import { e164Beside, e164Of, isE164 } from '../../core/phone.ts'
import type { Consent, ConsentPage, ConsentQuery } from '../consents.ts'
import { LIST_TOO_LONG, type ProviderResult } from '../provider.ts'
import { ownFailure } from './errors.ts'
import { type Call, MAX_LIST_BYTES, type Requester } from './request.ts'
import { optionalNumber, optionalText, wireTime } from './wire-text.ts'

export const CONSENTS_FILTER = '/restapi/v2/accounts/~/sms/consents'

/** An answer is parsed in one piece. The provider's maximum is 1000. */
const RECORDS_PER_PAGE = 500
/** This many are read in less than a millisecond. */
const RECORDS_PER_TICK = 50

/** `POST …/sms/consents/search` (RingCentral API reference, "Search SMS Consent Records"), which has no filter by time. */
export async function listConsents(
  requester: Requester,
  accessToken: string,
  { isOut, pageToken }: ConsentQuery,
): Promise<ProviderResult<ConsentPage>> {
  const optStatus = isOut ? 'OptOut' : 'OptIn'
  const json = { optStatus, perPage: RECORDS_PER_PAGE, ...(pageToken === null ? {} : { pageToken }) }
  const path = `${CONSENTS_FILTER}/search`
  const call: Call = { method: 'POST', path, json, as: { accessToken }, maxAnswerBytes: MAX_LIST_BYTES }
  const answered = await requester.read(call, pageSchema)
  if (!answered.ok) return answered
  const { records, paging } = answered.value
  const nextPageToken = paging?.nextPageToken || null
  if (nextPageToken !== null && nextPageToken === pageToken) return { ok: false, failure: ENDLESS }
  const consents = await consentsOf(records)
  return { ok: true, value: { consents, leftOut: records.length - consents.length, nextPageToken } }
}

const ENDLESS = { ...ownFailure('ambiguous', 'The page that follows is the same page again'), code: LIST_TOO_LONG }

const pageSchema = z.looseObject({
  records: z.array(z.unknown()),
  paging: z.looseObject({ nextPageToken: optionalText }).optional().catch(undefined),
})

/** Sends and requests run before each portion. */
async function consentsOf(records: readonly unknown[]): Promise<Consent[]> {
  const consents: Consent[] = []
  for (let from = 0; from < records.length; from += RECORDS_PER_TICK) {
    await nextTick()
    for (const record of records.slice(from, from + RECORDS_PER_TICK)) {
      const consent = consentOf(record)
      if (consent !== null) consents.push(consent)
    }
  }
  return consents
}

/** Null for a consent that names none of the account's numbers, such as one for a type of campaign: nothing says which numbers it covers. */
function consentOf(record: unknown): Consent | null {
  // A schema of the record (`SmsOptRecord`) would take some milliseconds to compile. A record without a coverage is for its number: no
  // other form is fully published.
  const { coverage = 'PhoneNumber', from, to, optStatus, lastModifiedTime } = Object(record) as Record<string, unknown>
  const isOfAccount = coverage === 'Account'
  if (!isOfAccount && coverage !== 'PhoneNumber') return null
  const number = e164Of(numberIn(from))
  const contact = e164Beside(number, numberIn(to))
  const modified = wireTime.safeParse(lastModifiedTime)
  const isRead = modified.success && (optStatus === 'OptOut' || optStatus === 'OptIn')
  if (!isRead || !isE164(contact) || !(isOfAccount || isE164(number))) return null
  return { contact, number: isOfAccount ? null : number, isOut: optStatus === 'OptOut', modifiedAt: modified.data }
}

const numberIn = (value: unknown): string => optionalNumber.parse(value) ?? ''
