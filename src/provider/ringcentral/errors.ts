import { z } from 'zod'
import { isOauthWord } from '../oauth-words.ts'
import type { FailureReason, ProviderFailure } from '../provider.ts'
import type { Hide } from './secrets.ts'
import type { ToldRate } from './rates.ts'
import { optionalText, storableText } from './wire-text.ts'

/** A response with a status line and headers. The body is null if it could not be read completely. */
export interface ProviderAnswer {
  status: number
  body: string | null
  /** Why the body is null. */
  bodyError: string | null
  date: string | null
  rate?: ToldRate | null
  requestId: string | null
  retryAfterMs: number | null
}

/** The kind of endpoint that answered. A 401 of an OAuth endpoint is about the client or the grant, not about an access token. */
export type Endpoint = 'api' | 'oauth'

/**
 * The failure for an answer that is not a 2xx. Only an answer in the provider's error form has a code, and only its contents are read:
 * anything else may come from a proxy, a firewall or a CDN in between.
 */
export function statusFailure(answer: ProviderAnswer, endpoint: Endpoint, hide: Hide): ProviderFailure {
  const { status, retryAfterMs } = answer
  const envelope = readEnvelope(answer.body, endpoint)
  const code = codeText(envelope.code, hide)
  const said = code === null ? null : envelope
  const reason = reasonOf(status, endpoint, said !== null)
  return {
    reason,
    status,
    code,
    message: messageOf(status, said, hide),
    // Only a 4xx says something about the grant or the client.
    oauthError: reason === 'rejected' && status >= 400 ? codeText(said?.oauthError, hide) : null,
    retryAfterMs,
    requestId: outsideText(answer.requestId, hide, MAX_REQUEST_ID_LENGTH),
    ...(said?.permission === undefined ? {} : { permission: said.permission }),
  }
}

/** The failure for a 2xx whose content cannot be read. The call may have succeeded. */
export function unreadableFailure(answer: ProviderAnswer, hide: Hide): ProviderFailure {
  return {
    ...ownFailure('ambiguous', `The provider's answer could not be read (status ${answer.status})`),
    status: answer.status,
    code: answer.bodyError,
    requestId: outsideText(answer.requestId, hide, MAX_REQUEST_ID_LENGTH),
  }
}

/** The failure for a call without a status line. `neverLeft`: the server cannot have seen the request. */
export function networkFailure(code: string, neverLeft: boolean): ProviderFailure {
  if (neverLeft) return { ...ownFailure('unreachable', `The provider could not be reached (${code})`), code }
  return { ...ownFailure('ambiguous', `The provider did not answer (${code})`), code }
}

/** A failure without an answer, with the gateway's own message. */
export function ownFailure(reason: FailureReason, message: string): ProviderFailure {
  return { reason, status: null, code: null, message, oauthError: null, retryAfterMs: null, requestId: null }
}

const MAX_MESSAGE_LENGTH = 300
const MAX_CODE_LENGTH = 64
const MAX_REQUEST_ID_LENGTH = 128

function reasonOf(status: number, endpoint: Endpoint, isProviders: boolean): FailureReason {
  if (status === 401 && endpoint === 'api') return 'unauthorized'
  if (status === 408) return 'ambiguous'
  if (status === 429) return 'rate_limited'
  // A proxy's 5xx does not say whether the provider behind it did the work.
  if (status === 503 && isProviders) return 'unavailable'
  if (status < 300 || status >= 500) return 'ambiguous'
  return isProviders ? 'rejected' : 'intercepted'
}

function messageOf(status: number, said: Said | null, hide: Hide): string {
  if (status >= 300 && status < 400)
    return `The provider answered with a redirect (status ${status}), which is never followed`
  if (said === null) return `The answer (status ${status}) is not in the provider's form`
  return outsideText(said.message, hide, MAX_MESSAGE_LENGTH) ?? `The provider answered with status ${status}`
}

interface Said {
  /** Undefined if the answer is not in the provider's form. */
  code: string | undefined
  message: string | undefined
  oauthError: string | undefined
  permission: string | undefined
}

/**
 * The error envelope: `errors[].{errorCode,message}`, the same on top in a legacy form, and RFC 6749's members at the
 * OAuth endpoints (RingCentral OpenAPI, `ApiError` and `TokenError`). Members of another type count as absent.
 */
const entrySchema = z.looseObject({
  errorCode: optionalText,
  message: optionalText,
  permissionName: z
    .string()
    .regex(/^[A-Za-z]{2,40}$/)
    .optional()
    .catch(undefined),
})
const envelopeSchema = entrySchema.extend({
  error: optionalText,
  error_description: optionalText,
  errors: z.array(z.unknown()).optional().catch(undefined),
})

function readEnvelope(body: string | null, endpoint: Endpoint): Said {
  const envelope = envelopeSchema.safeParse(parseJson(body)).data
  const first = entrySchema.safeParse(envelope?.errors?.[0]).data
  const code = nonEmpty(first?.errorCode) ?? nonEmpty(envelope?.errorCode)
  const oauthError = endpoint === 'oauth' ? nonEmpty(envelope?.error) : undefined
  return {
    code: code ?? oauthError,
    message: nonEmpty(first?.message) ?? nonEmpty(envelope?.message) ?? nonEmpty(envelope?.error_description),
    oauthError,
    permission: first?.permissionName ?? envelope?.permissionName,
  }
}

const nonEmpty = (text: string | undefined): string | undefined => (text?.trim() ? text : undefined)

/** The value, or undefined if the text is not JSON (a proxy's page, an empty body). */
export function parseJson(text: string | null): unknown {
  try {
    return JSON.parse(text ?? '')
  } catch {
    return undefined
  }
}

/** Keeps a well-formed code unchanged: codes decide what happens next, and a credential may be an ordinary word that occurs in one. */
const codeText = (code: string | undefined, hide: Hide): string | null =>
  code !== undefined && isKnownForm(code) ? code : outsideText(code, hide, MAX_CODE_LENGTH)

const isKnownForm = (code: string): boolean => /^[A-Z]{2,5}-\d{1,4}$/.test(code) || isOauthWord(code)

/** Hides credentials before it shortens the text, because half a credential would not be found. */
function outsideText(text: string | null | undefined, hide: Hide, maxLength: number): string | null {
  if (text === null || text === undefined) return null
  const oneLine = hide(text)
    .replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
    .trim()
  return oneLine === '' ? null : storableText(oneLine, maxLength)
}
