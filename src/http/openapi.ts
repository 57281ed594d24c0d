import { Elysia } from 'elysia'
import { z } from 'zod'
import { errorText } from '../core/errors.ts'
import { ALLOWED_WITHOUT_HTTPS } from './require-app.ts'
import type { Route } from './route.ts'
import { DOCS_ASSETS, STYLE_PATH, docsPage } from './docs-page.ts'
import type { Page } from './server.ts'
import { VERSION } from '../version.ts'

type Json = Record<string, unknown>

/** Errors of every endpoint that needs a key, then of the others. */
const KEYED: readonly [status: number, texts: string[]][] = [
  [401, ['Missing or invalid API key', 'Invalid API key']],
  [403, ['Tenant suspended or inactive', errorText('httpsRequired')]],
  [413, [errorText('tooLarge')]],
  [429, ['Too many requests']],
  [500, ['Internal server error']],
  [503, [errorText('storageUnavailable')]],
]
const KEYLESS: readonly [status: number, texts: string[]][] = [
  [403, [errorText('httpsRequired')]],
  [413, [errorText('tooLarge')]],
  [500, ['Internal server error']],
  [503, [errorText('storageUnavailable')]],
]

/** The same of the operator's endpoints. */
const OPERATED: typeof KEYED = [
  [401, ['Missing or invalid API key', 'Invalid API key']],
  [403, [errorText('forbidden'), errorText('httpsRequired')]],
  ...KEYED.slice(2),
]

const COMMON_ERRORS = { app: KEYED, operator: OPERATED, 'app or operator': KEYED, none: KEYLESS } as const

const SECURITY = {
  app: [{ apiKey: [] }, { operatorToken: [] }],
  operator: [{ operatorToken: [] }],
  'app or operator': [{ apiKey: [] }, { operatorToken: [] }],
  none: [],
} as const

/**
 * `/openapi.json` and its page `/docs`, by `@elysiajs/swagger`. The plugin collects the operations from the routes of its
 * own Elysia instance. The instance is made at the first request, because describing the routes would add a tenth to
 * the time of every start.
 */
export function openApi(routes: readonly Route[]): Page[] {
  let described: Promise<Described> | null = null
  const answer = async (path: string): Promise<Response> => (await (described ??= describe(routes)))(path)
  return [
    ...DOCS_ASSETS,
    { path: '/docs', answer: async () => docsPage(await answer('/docs')) },
    { path: '/openapi.json', answer: () => answer('/openapi.json') },
  ]
}

/** The plugin's own address of the document is relative, so it would be wrong at `/docs/`, which is the same page. */
const SWAGGER_UI = { url: '/openapi.json', validatorUrl: 'none' }

/** The plugin's answer to a GET of this path. */
type Described = (path: string) => Promise<Response>

async function describe(routes: readonly Route[]): Promise<Described> {
  const { swagger } = await import('@elysiajs/swagger')
  const app = new Elysia().use(
    swagger({
      provider: 'swagger-ui',
      path: '/docs',
      specPath: '/openapi.json',
      theme: STYLE_PATH,
      autoDarkMode: false,
      swaggerOptions: SWAGGER_UI,
      documentation: documentationOf(routes),
    }),
  )
  for (const route of routes) app.route(route.method, route.path, () => '', { detail: operationOf(route) })
  // Not the caller's host: Elysia finds no route if the host has fewer than four characters.
  return async (path) => app.handle(new Request(`http://localhost${path}`))
}

/** The parts of the document that do not depend on a route. */
function documentationOf(routes: readonly Route[]) {
  return {
    info: {
      title: 'sgw',
      version: VERSION,
      description:
        'A self-hosted gateway for sending and receiving SMS through RingCentral. Every error is `{error: string}`; every answer carries `X-Request-Id`.',
      license: { name: 'MIT', url: 'https://opensource.org/license/mit' },
    },
    servers: [{ url: '/' }],
    tags: [...new Set(routes.map((route) => route.tag))].map((name) => ({ name })),
    components: {
      securitySchemes: {
        apiKey: { type: 'http' as const, scheme: 'bearer', bearerFormat: 'sgw_…' },
        operatorToken: {
          type: 'http' as const,
          scheme: 'bearer',
          bearerFormat: 'sgw_op_…',
          description:
            "The token of an operator's session. With the header `Sgw-App: app_…` it may call every endpoint as that app; a suspended tenant and an inactive app can only be read.",
        },
      },
      schemas: { Error: schemaOf(z.object({ error: z.string() }), 'output') },
    },
  }
}

/** The operation of an endpoint, made from the schemas that validate it. */
function operationOf(route: Route): Json {
  const parameters = [
    ...parametersOf('path', route.params),
    ...parametersOf('query', route.query),
    ...parametersOf('header', route.headers),
  ]
  const operationId = `${route.method.toLowerCase()}${route.path.replaceAll(/[^A-Za-z]+(\w)?/g, (_, letter: string | undefined) => (letter ?? '').toUpperCase())}`
  return {
    operationId,
    tags: [route.tag],
    summary: route.summary,
    ...(route.description === undefined ? {} : { description: route.description }),
    security: SECURITY[route.auth],
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(route.body === undefined ? {} : { requestBody: requestBodyOf(route) }),
    responses: { [route.status]: successOf(route), ...errorsOf(route), ...othersOf(route) },
  }
}

function requestBodyOf(route: Route): Json {
  const schema = schemaOf(route.body ?? z.object({}), 'input')
  const type = route.bodyType === 'form' ? 'application/x-www-form-urlencoded' : 'application/json'
  return { required: true, content: { [type]: { schema } } }
}

function successOf(route: Route): Json {
  const headers = { 'X-Request-Id': { schema: { type: 'string' } } }
  if (route.response === 'html')
    return { description: 'A page', headers, content: { 'text/html': { schema: { type: 'string' } } } }
  if (route.response === 'redirect')
    return { description: "To the provider's login", headers: { ...headers, Location: { schema: { type: 'string' } } } }
  if (route.response === 'empty') return { description: 'Accepted', headers }
  return {
    description: 'Success',
    headers,
    content: { 'application/json': { schema: schemaOf(route.response, 'output') } },
  }
}

function errorsOf(route: Route): Json {
  const texts = new Map<number, readonly string[]>(COMMON_ERRORS[route.auth])
  if (route.path === ALLOWED_WITHOUT_HTTPS) texts.delete(403)
  for (const [status, own] of Object.entries(route.errors ?? {}))
    texts.set(Number(status), [...(texts.get(Number(status)) ?? []), ...own])
  const isPage = route.response === 'html' || route.response === 'redirect'
  return Object.fromEntries(
    [...texts].map(([status, list]) => [status, errorOf(status, list, isPage && !NEVER_PAGES.includes(status))]),
  )
}

/** Errors that come before the code of a page runs, so that they are never pages. */
const NEVER_PAGES = [403, 413, 500, 503]

const othersOf = ({ otherwise = {} }: Route): Json =>
  Object.fromEntries(
    Object.entries(otherwise).map(([status, [description, body]]) => [
      status,
      { description, content: { 'application/json': { schema: schemaOf(body, 'output') } } },
    ]),
  )

function errorOf(status: number, texts: readonly string[], isPage: boolean): Json {
  const content = isPage
    ? { 'text/html': { schema: { type: 'string' } } }
    : { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } }
  const headers =
    status === 429 || status === 503
      ? { headers: { 'Retry-After': { description: 'Seconds', schema: { type: 'integer' } } } }
      : {}
  return { description: texts.map((text) => `\`${text}\``).join(', '), ...headers, content }
}

function parametersOf(location: 'path' | 'query' | 'header', schema: z.ZodType | undefined): Json[] {
  if (schema === undefined) return []
  const { properties = {}, required = [] } = schemaOf(schema, 'input') as {
    properties?: Record<string, Json>
    required?: string[]
  }
  return Object.entries(properties).map(([name, property]) => {
    const { description, ...rest } = property
    return {
      name,
      in: location,
      required: location === 'path' || required.includes(name),
      ...(description === undefined ? {} : { description }),
      schema: rest,
    }
  })
}

function schemaOf(schema: z.ZodType, io: 'input' | 'output'): Json {
  const { $schema: _, ...json } = z.toJSONSchema(schema, { io, target: 'openapi-3.0', unrepresentable: 'any' }) as Json
  return json
}
