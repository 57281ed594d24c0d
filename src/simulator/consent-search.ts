import { isoTime } from '../core/clock.ts'
import { CAMPAIGN_TYPES, COVERAGES, OPT_STATUSES } from '../core/provider-changes.ts'
import type { ApiCall } from './api-call.ts'
import type { Consent } from './consents.ts'
import { apiError, appNeeds, invalidParameter, notFound, unreadableBody } from './errors.ts'
import { json, jsonObject, type Reply } from './http.ts'

/**
 * `POST /restapi/v2/accounts/{accountId}/sms/consents/search` (RingCentral API reference, "Search SMS Consent Records"). The order of the
 * list is not documented: here the record that changed last is the first.
 */
export function searchConsents({ world, call, extension, ids }: ApiCall): Reply {
  if (ids[0] !== '~' && ids[0] !== String(extension.accountId)) return notFound('accountId')
  if (world.settings.consents === 'absent') return notFound('accountId')
  if (world.settings.consents === 'refused') return appNeeds('SMS')
  const body = call.body.trim() === '' ? {} : jsonObject(call.body)
  if (body === null) return unreadableBody(call.body)
  const wrong = wrongMember(body)
  if (wrong !== null) return invalidParameter(wrong)
  const found = world.consents.of(extension.accountId).filter((one) => isWanted(one, body))
  const perPage = Math.min(MAX_PER_PAGE, Number(body['perPage'] ?? DEFAULT_PER_PAGE))
  const start = body['pageToken'] === undefined ? 0 : startOf(body['pageToken'])
  if (start === null) return apiError(400, 'CMN-101', 'Parameter [pageToken] value is invalid.')
  const next = start + perPage
  return json(200, {
    records: found.slice(start, next).map(recordOf),
    paging: {
      perPage,
      pageToken: tokenOf(start),
      firstPageToken: tokenOf(0),
      ...(next < found.length ? { nextPageToken: tokenOf(next) } : {}),
      ...(start > 0 ? { previousPageToken: tokenOf(Math.max(0, start - perPage)) } : {}),
    },
  })
}

const DEFAULT_PER_PAGE = 100
const MAX_PER_PAGE = 1000
const MAX_NUMBERS = 20

const tokenOf = (start: number): string => `page-${start}`

function startOf(token: unknown): number | null {
  const start = /^page-(\d+)$/.exec(String(token))?.[1]
  return start === undefined ? null : Number(start)
}

type Members = Record<string, unknown>

/** Each filter, and what it may be. */
const CHECKS: Readonly<Record<string, (value: unknown) => boolean>> = {
  from: (value) => isListOf(value, (one) => typeof one === 'string') && value.length <= MAX_NUMBERS,
  to: (value) => isListOf(value, (one) => typeof one === 'string') && value.length <= MAX_NUMBERS,
  optStatus: (value) => isOneOf(OPT_STATUSES, value),
  coverage: (value) => isListOf(value, (one) => isOneOf(COVERAGES, one)),
  campaignType: (value) => isListOf(value, (one) => isOneOf(CAMPAIGN_TYPES, one)),
  perPage: (value) => Number.isInteger(value) && Number(value) >= 1,
}

const wrongMember = (body: Members): string | null =>
  Object.keys(CHECKS).find((name) => body[name] !== undefined && CHECKS[name]?.(body[name]) === false) ?? null

const isOneOf = (values: readonly string[], value: unknown): boolean => values.includes(String(value))

const isListOf = (value: unknown, fits: (one: unknown) => boolean): value is unknown[] =>
  Array.isArray(value) && value.length > 0 && value.every(fits)

function isWanted(consent: Consent, body: Members): boolean {
  const { optStatus } = body
  const lists = ['from', 'to', 'coverage', 'campaignType'] as const
  return (
    (optStatus === undefined || optStatus === consent.optStatus) &&
    lists.every((name) => body[name] === undefined || (body[name] as unknown[]).includes(consent[name]))
  )
}

const recordOf = ({ from, to, optStatus, coverage, campaignType, source, modifiedAt }: Consent): Members => ({
  ...(from === undefined ? {} : { from }),
  to,
  optStatus,
  coverage,
  ...(campaignType === undefined ? {} : { campaignType }),
  source,
  lastModifiedTime: isoTime(modifiedAt),
})
