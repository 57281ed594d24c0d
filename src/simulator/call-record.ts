import type { CallFilter, RecordedCall } from '../core/simulator-access.ts'
import { asObject, jsonObject } from './http.ts'

const MAX_CALLS = 500
const MAX_BODY_BYTES = 4096

/** A call as it was made. It is masked and cut when somebody reads it, because most calls are never read. */
export interface RawCall extends Omit<RecordedCall, 'request' | 'response' | 'rcMessageId'> {
  request: Part
  response: (Part & { status: number }) | null
}

interface Part {
  headers: Record<string, string>
  /** Of a multipart body the first part. */
  body: string
}

/** The last calls between the client and the platform, in both directions. */
export class CallRecord {
  readonly #calls: RawCall[] = []
  /** Called with each call as it was made. */
  readonly listeners = new Set<(call: RawCall) => void>()

  add(call: RawCall): void {
    for (const listener of this.listeners) listener(call)
    const { request, response } = call
    this.#calls.push({
      ...call,
      request: textOf(request),
      response: response === null ? null : { status: response.status, ...textOf(response) },
    })
    if (this.#calls.length > MAX_CALLS) this.#calls.shift()
  }

  /** Oldest first. */
  list({ from, to, since = -Infinity, limit = MAX_CALLS }: CallFilter): RecordedCall[] {
    return this.#calls
      .filter(({ at }) => at >= since)
      .map((call) => ({ call, about: subjectOf(call) }))
      .filter(
        ({ about }) =>
          isBetween(about, from, to) || (from !== undefined && to !== undefined && isBetween(about, to, from)),
      )
      .slice(-limit)
      .map(({ call, about }) => shown(call, about.rcMessageId))
  }
}

/** Without files and bytes, which may be large. */
const textOf = ({ headers, body }: Part): Part => ({ headers, body })

/** The message that a call is about, as far as its bodies tell. */
interface Subject {
  from: string | null
  to: string[]
  rcMessageId: string | null
}

function subjectOf({ route, request, response }: RawCall): Subject {
  const sent = jsonObject(request.body)
  const message = route === 'event' ? asObject(sent?.['body']) : sent
  const id = route === 'event' ? message?.['id'] : jsonObject(response?.body ?? '')?.['id']
  const isMessage = route !== null && ABOUT_A_MESSAGE.has(route)
  return {
    from: numberOf(message?.['from']),
    to: arrayOf(message?.['to']).flatMap((party) => numberOf(party) ?? []),
    rcMessageId: isMessage && (typeof id === 'string' || typeof id === 'number') ? String(id) : null,
  }
}

const ABOUT_A_MESSAGE = new Set(['event', 'sms', 'mms', 'message'])

const isBetween = (about: Subject, from: string | undefined, to: string | undefined): boolean =>
  (from === undefined || about.from === from) && (to === undefined || about.to.includes(to))

function numberOf(party: unknown): string | null {
  const number = asObject(party)?.['phoneNumber']
  return typeof number === 'string' ? number : null
}

const arrayOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])

const shown = (call: RawCall, rcMessageId: string | null): RecordedCall => ({
  ...call,
  path: maskForm(call.path),
  request: shownPart(call.request),
  response: call.response === null ? null : { status: call.response.status, ...shownPart(call.response) },
  ...(rcMessageId === null ? {} : { rcMessageId }),
})

const shownPart = ({ headers, body }: Part): Part => ({
  headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, maskHeader(name, value)])),
  body: firstBytes(body.startsWith('{') ? maskJson(body) : maskForm(body)),
})

/** The whole characters in the first bytes of a text, as UTF-8. */
function firstBytes(text: string): string {
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(MAX_BODY_BYTES))
  return text.slice(0, read)
}

const MASK = '***'
const SECRET_HEADERS = /^(authorization|verification-token|validation-token|cookie|set-cookie)$/i
const SECRET_NAMES =
  'access_token|ws_access_token|refresh_token|id_token|token|code|code_verifier|code_challenge|client_secret|client_assertion|assertion|state|verificationToken'

function maskHeader(name: string, value: string): string {
  // A `Location` has a query.
  if (!SECRET_HEADERS.test(name)) return maskForm(value)
  const scheme = /^(Basic|Bearer) /i.exec(value)?.[0] ?? ''
  return `${scheme}${MASK}`
}

const JSON_SECRET = new RegExp(`("(?:${SECRET_NAMES})"\\s*:\\s*")(?:[^"\\\\]|\\\\.)*"`, 'g')
const maskJson = (text: string): string => text.replace(JSON_SECRET, `$1${MASK}"`)

/** Masks values of a form or a query. */
const FORM_SECRET = new RegExp(`(^|[?&])(${SECRET_NAMES})=[^&\\s"]*`, 'g')
const maskForm = (text: string): string => text.replace(FORM_SECRET, `$1$2=${MASK}`)
