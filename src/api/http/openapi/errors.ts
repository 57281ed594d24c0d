import { errorTexts } from '../../../core/errors.ts'
import { ALLOWED_WITHOUT_HTTPS } from '../require-https.ts'
import type { Route } from '../route.ts'
import { refusalsOf } from '../validated.ts'
import { type HeaderName, headers } from './headers.ts'
import type { Json } from './named-schemas.ts'

/** The errors that many endpoints share: the name of the response, its status and its texts. */
const SHARED = {
  Unauthorized: [401, errorTexts('missingKey', 'badKey')],
  TenantInactive: [403, errorTexts('tenantSuspended', 'httpsRequired')],
  OperatorOnly: [403, errorTexts('forbidden', 'httpsRequired')],
  HttpsRequired: [403, errorTexts('httpsRequired')],
  TooLarge: [413, errorTexts('tooLarge')],
  TooManyRequests: [429, errorTexts('tooMany')],
  InternalError: [500, ['Internal server error']],
  StorageUnavailable: [503, errorTexts('storageUnavailable')],
} as const satisfies Record<string, readonly [status: number, texts: readonly string[]]>

type SharedName = keyof typeof SHARED

const ALWAYS: SharedName[] = ['TooLarge', 'InternalError', 'StorageUnavailable']
const SHARED_BY: Record<Route['auth'], readonly SharedName[]> = {
  app: ['Unauthorized', 'TenantInactive', 'TooManyRequests', ...ALWAYS],
  operator: ['Unauthorized', 'OperatorOnly', 'TooManyRequests', ...ALWAYS],
  'app or operator': ['Unauthorized', 'TenantInactive', 'TooManyRequests', ...ALWAYS],
  none: ['HttpsRequired', ...ALWAYS],
}

/** The shared responses. */
export const sharedErrors = (): Json =>
  Object.fromEntries(Object.entries(SHARED).map(([name, [status, texts]]) => [name, errorOf(status, texts, ['json'])]))

/** The errors of an endpoint by status. A status with its own texts has its own response. */
export function errorsOf(route: Route): Json {
  const shared = SHARED_BY[route.auth].filter(
    (name) => name !== 'HttpsRequired' || !ALLOWED_WITHOUT_HTTPS.includes(route.path),
  )
  const references = shared.map((name) => [SHARED[name][0], { $ref: `#/components/responses/${name}` }])
  const refusals = refusalsOf(route.query)
  const named = {
    ...route.errors,
    ...(refusals.length === 0 ? {} : { 400: [...refusals, ...(route.errors?.[400] ?? [])] }),
  }
  const own = Object.entries(named).map(([key, texts]) => {
    const status = Number(key)
    const common = shared.flatMap((name) => (SHARED[name][0] === status ? SHARED[name][1] : []))
    return [status, errorOf(status, [...new Set([...common, ...texts])], formsOf(route))]
  })
  return Object.fromEntries([...references, ...own]) as Json
}

type Form = 'html' | 'json'

/** Browser endpoints show their own errors as pages. */
function formsOf({ response, json }: Route): readonly Form[] {
  if (response !== 'html' && response !== 'redirect') return ['json']
  return json === undefined ? ['html'] : ['html', 'json']
}

const HEADERS_OF: Partial<Record<number, readonly HeaderName[]>> = {
  401: ['WWW-Authenticate'],
  429: ['Retry-After', 'RateLimit', 'RateLimit-Policy'],
  503: ['Retry-After'],
}

function errorOf(status: number, texts: readonly string[], forms: readonly Form[]): Json {
  const page = { 'text/html': { schema: { type: 'string' }, example: '<!doctype html>…' } }
  const json = {
    'application/json': {
      schema: { $ref: '#/components/schemas/ErrorResponse' },
      examples: Object.fromEntries(texts.map((text) => [keyOf(text), { value: { error: exampleOf(text) } }])),
    },
  }
  return {
    description: texts.map((text) => `\`${text}\``).join(', '),
    headers: headers(['X-Request-Id', ...(HEADERS_OF[status] ?? [])]),
    content: { ...(forms.includes('html') ? page : {}), ...(forms.includes('json') ? json : {}) },
  }
}

/** The name of an example: the text in camel case. */
const keyOf = (text: string): string =>
  (text.charAt(0).toLowerCase() + text.slice(1)).replaceAll(
    /[^A-Za-z0-9]+(\w)?/g,
    (_, letter: string | undefined) => letter?.toUpperCase() ?? '',
  )

const exampleOf = (text: string): string => text.replace('<status>', 'sent')
