import { logChange } from './operator-log.ts'
import { jsonAnswer } from '../../core/json-answer.ts'
import { Elysia } from 'elysia'
import { ApiError, apiError } from '../../core/errors.ts'
import type { Gateway } from '../../messages/gateway.ts'
import { type IgnoredFields, bodyFields, ignoredFields } from './ignored-fields.ts'
import { bodyOf, readLimited } from './body.ts'
import { type Content, RequestPipeline } from './request-pipeline.ts'
import { type PathTest, type Routed, ownPathTest, slashRoutes } from './own-path.ts'
import { type ReceivedRequest, type RequestContext, queryOf } from './request-context.ts'
import { noteBodyMistake, noteFileMistake } from './request-mistakes.ts'
import { validated } from './validated.ts'
import { type Route, type RouteInput, schemaFor, takesAnyJson } from './route.ts'

/** Bun itself refuses larger bodies, without a JSON error. So this is far above the gateway's limit, which is counted while reading. */
const BACKSTOP_BODY_BYTES = 2 ** 40

/** How long a connection may be silent. Also the limit for an unfinished body; for headers it is 12 s (Bun 1.4.4, measured). */
export const IDLE_SECONDS = 30

/** Bun's maximum is 255. */
const SLOW_ANSWER_SECONDS = 240

/** A page that is served besides the endpoints, without key and schema. */
export interface WebPage {
  path: string
  answer(request: Request): Response | Promise<Response>
}

export interface ServerOptions {
  /** Served besides the endpoints. */
  pages?: readonly WebPage[]
  /** Only for requests of this machine's operator, on the Unix socket or in process: every request is the operator's. */
  local?: boolean
}

/**
 * An Elysia server with these endpoints and pages. Elysia finds the route; the request pipeline does everything else. Elysia's hooks
 * are not used, because they would take longer than the rest of a request.
 */
export function createServer(
  gateway: Gateway,
  routes: readonly Route[],
  { pages = [], local = false }: ServerOptions = {},
) {
  const pipeline = new RequestPipeline(gateway, routes, local)
  const fields = bodyFields(routes)
  const endpoints = [
    ...routes.map((route) => servedRoute(pipeline, { route, ignored: ignoredFields(route, fields) })),
    ...pages.map((page) => servedPage(pipeline, page)),
  ]
  const refuse = (request: Request, server: ReceivedRequest['server'], error: () => unknown) =>
    pipeline.answer({ request, server, endpointPath: null }, () => reject(error()))
  const answerAt =
    ({ answer }: Served, isOwnPath: PathTest): Served['answer'] =>
    (request, server, params) =>
      isOwnPath(request) ? answer(request, server, params) : refuse(request, server, () => notFound(request))
  const slashed = slashRoutes(endpoints, (endpoint, isOwnPath) => {
    const answer = answerAt(endpoint, isOwnPath)
    return (request, server) => answer(request, server, request.params)
  })
  const app = new Elysia({
    serve: { development: false, maxRequestBodySize: BACKSTOP_BODY_BYTES, error: lastResort, routes: slashed },
  })
  for (const endpoint of endpoints) {
    const answer = answerAt(endpoint, ownPathTest(endpoint, local))
    app.route(endpoint.method, endpoint.path, ({ request, params, server }) => answer(request, server, params))
  }
  app.onError({ as: 'global' }, ({ error, code, request, server }) =>
    refuse(request, server, () => (code === 'NOT_FOUND' ? notFound(request) : error)),
  )
  return app
}

/** An endpoint, and the check for misspelled fields in its requests. */
interface Endpoint {
  route: Route
  ignored: IgnoredFields
}

export type Server = ReturnType<typeof createServer>

/** An endpoint or a page as it is served. */
interface Served extends Routed {
  answer(
    request: Request,
    server: ReceivedRequest['server'],
    params: RouteInput['params'],
  ): Promise<Response | undefined>
}

function servedRoute(pipeline: RequestPipeline, endpoint: Endpoint): Served {
  const { method, path } = endpoint.route
  return {
    method,
    path,
    answer(request, server, params) {
      const received = { request, server, endpointPath: path }
      return pipeline.answer(received, (context) => runRoute(pipeline.gateway, endpoint, received, context, params))
    },
  }
}

const servedPage = (pipeline: RequestPipeline, { path, answer }: WebPage): Served => ({
  method: 'GET',
  path,
  answer: (request, server) =>
    pipeline.answer({ request, server, endpointPath: path }, async () => ({
      status: 200,
      content: await answer(request),
    })),
})

/** Checks the caller again, so that a mistake in `admit` alone opens no endpoint. */
async function runRoute(
  gateway: Gateway,
  endpoint: Endpoint,
  received: ReceivedRequest,
  context: RequestContext,
  params: RouteInput['params'],
): Promise<Content> {
  const { request, server } = received
  const { route } = endpoint
  if (route.auth !== 'none' && context.caller === null && context.operator === null) throw apiError('missingKey')
  if (route.auth === 'operator' && context.operator === null) throw apiError('forbidden')
  const before = route.before?.({ gateway, request })
  const beforeResult: unknown = before instanceof Promise ? await before : before
  const bytes = route.takesFile === undefined ? await readLimited(request, route.maxBodyBytes) : UNREAD
  requireCaller(route, context)
  const input = inputOrHint(endpoint, received, { gateway, context, params, beforeResult, bytes })
  const answering = route.mayWait === true ? 0 : 1
  gateway.traffic.answering += answering
  // Set only after the body was read, because otherwise a client could take this long to send it.
  if (route.mayWait === true) server?.timeout(request, SLOW_ANSWER_SECONDS)
  try {
    const content = await route.run(input)
    logChange(gateway, route, context, [takesAnyJson(route) ? null : input.body, content])
    return { status: route.status, content, secret: route.secret === true }
  } catch (error) {
    if (route.takesFile !== undefined) noteFileMistake(gateway, context, error)
    throw error
  } finally {
    gateway.traffic.answering -= answering
    // The timeout belongs to the connection, which stays open for further requests.
    if (route.mayWait === true) server?.timeout(request, IDLE_SECONDS)
  }
}

const UNREAD = new Uint8Array(0)

/** An operator's request must name an app by `Sgw-App` if the endpoint acts as one. */
function requireCaller({ auth }: Route, { caller, callerError }: RequestContext): void {
  if (auth === 'none' || auth === 'operator' || caller !== null) return
  if (auth === 'app or operator' && callerError === 'missingApp') return
  throw apiError(callerError)
}

type ReadInput = Pick<RouteInput, 'gateway' | 'context' | 'params' | 'beforeResult' | 'bytes'>

/** The body is parsed once: one of 100 KB with thousands of names takes milliseconds. */
function inputOrHint(endpoint: Endpoint, received: ReceivedRequest, read: ReadInput): RouteInput {
  const [bytes, { route }] = [read.bytes, endpoint]
  let body: unknown
  try {
    body = route.body === undefined ? undefined : bodyOf(route, bytes)
    return inputOf(endpoint, received, read, body)
  } catch (error) {
    noteBodyMistake(read.gateway, read.context, { bytes, body, schema: schemaFor(route, body) }, error)
    throw error
  }
}

/** The input of an endpoint, checked by its schemas. */
function inputOf(
  { route, ignored }: Endpoint,
  { request, server }: ReceivedRequest,
  { gateway, context, params, beforeResult, bytes }: ReadInput,
  body: unknown,
): RouteInput {
  const note = noteIgnored(gateway, context)
  const query = route.query === undefined ? undefined : queryOf(request)
  ignored.inQuery(query, note)
  ignored.inBody(body, note)
  return {
    gateway,
    request,
    context,
    beforeResult,
    bytes,
    upgrade: (data) => server?.upgrade(request, { data, headers: { 'x-request-id': context.requestId } }) ?? false,
    caller: context.caller ?? { appId: '', tenantId: '' },
    params: validated(route.params, params, route.priority),
    query: validated(route.query, query, route.priority),
    body: validated(schemaFor(route, body), body, route.priority),
  }
}

/**
 * A field that is probably misspelled, or that other APIs have, is ignored like any unknown field. But the answer names it, and in development
 * the log does, too.
 */
function noteIgnored({ config, log }: Gateway, context: RequestContext): (field: string, meant: string | null) => void {
  return (field, meant) => {
    context.ignored.push(field)
    if (config.production) return
    const hint = meant === null ? 'this endpoint has no such field' : `did you mean ${meant}?`
    log.warn({ path: context.endpointPath, field }, `a field was ignored: ${hint}`)
  }
}

/** Throws the error. As the `run` of a request it does so only after `admit`. */
async function reject(error: unknown): Promise<never> {
  throw await error
}

/** Reads the body first, because 413 comes before 404 even for paths that do not exist. */
async function notFound(request: Request): Promise<unknown> {
  try {
    await readLimited(request)
    return apiError('notFound')
  } catch (error) {
    return error
  }
}

/** Answers errors that do not reach Elysia's error hook, such as a thrown null. */
function lastResort(error: unknown): Response {
  const known = error instanceof ApiError
  return jsonAnswer({ error: known ? error.message : 'Internal server error' }, { status: 500 })
}
