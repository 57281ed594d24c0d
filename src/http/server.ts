import { Elysia } from 'elysia'
import { ApiError, apiError } from '../core/errors.ts'
import type { Gateway } from '../gateway.ts'
import { parseForm, parseJson, readLimited } from './body.ts'
import { RequestPipeline } from './request-pipeline.ts'
import { type Inquiry, type RequestContext, queryOf } from './request-context.ts'
import { type Route, type RouteInput, validated } from './route.ts'

/** Above this Bun itself answers, without our JSON. Far above our own limit, which is counted while reading. */
const BACKSTOP_BODY_BYTES = 2 ** 40

/** How long a connection may be silent. An unfinished body is cut off after this time as well, headers after 12 s (Bun 1.4.4, measured). */
export const IDLE_SECONDS = 30

/** Bun counts to 255. */
const SLOW_ANSWER_SECONDS = 240

/** What is served beside the endpoints: no key, no schema. */
export interface Page {
  path: string
  answer(): Response | Promise<Response>
}

/**
 * Elysia with these endpoints and pages. It finds the route; the request pipeline does everything else, without Elysia's
 * hooks: they would cost more than the rest of a request.
 */
export function createServer(gateway: Gateway, routes: readonly Route[], pages: readonly Page[] = []) {
  const pipeline = new RequestPipeline(gateway, routes)
  const app = new Elysia({ serve: { development: false, maxRequestBodySize: BACKSTOP_BODY_BYTES, error: lastResort } })
  app.onError({ as: 'global' }, ({ error, code, request, server }) =>
    pipeline.answer({ request, server, path: null }, () => reject(code === 'NOT_FOUND' ? notFound(request) : error)),
  )
  for (const route of routes) {
    const path = route.path.includes(':') ? null : route.path
    app.route(route.method, route.path, ({ request, params, server }) => {
      const inquiry = { request, server, path }
      return pipeline.answer(inquiry, (context) => runRoute(gateway, route, inquiry, context, params))
    })
  }
  for (const { path, answer } of pages)
    app.get(path, ({ request, server }) =>
      pipeline.answer({ request, server, path }, async () => ({ status: 200, content: await answer() })),
    )
  return app
}

export type Server = ReturnType<typeof createServer>

/** `caller` stays demanded here even if a request finds a way around the gate's idea of its path. */
async function runRoute(
  gateway: Gateway,
  route: Route,
  inquiry: Inquiry,
  context: RequestContext,
  params: RouteInput['params'],
): Promise<{ status: number; content: unknown }> {
  const { request, server } = inquiry
  if (route.auth === 'app' && context.caller === null) throw apiError('missingKey')
  const before = route.before?.({ gateway, request })
  const admitted: unknown = before instanceof Promise ? await before : before
  const bytes = await readLimited(request)
  const input = inputOf(route, inquiry, { gateway, context, params, admitted, bytes })
  const answering = route.slow === true ? 0 : 1
  gateway.traffic.answering += answering
  // Not before the body has come: it could trickle in for as long.
  if (route.slow === true) server?.timeout(request, SLOW_ANSWER_SECONDS)
  try {
    return { status: route.status, content: await route.run(input) }
  } finally {
    gateway.traffic.answering -= answering
    // It holds for the connection, which stays open for further requests.
    if (route.slow === true) server?.timeout(request, IDLE_SECONDS)
  }
}

/** What an endpoint is given, as its schemas leave it. */
function inputOf(
  route: Route,
  { request, server }: Inquiry,
  read: Pick<RouteInput, 'gateway' | 'context' | 'params' | 'admitted' | 'bytes'>,
): RouteInput {
  const { gateway, context, params, admitted, bytes } = read
  return {
    gateway,
    request,
    context,
    admitted,
    bytes,
    upgrade: (data) => server?.upgrade(request, { data, headers: { 'x-request-id': context.requestId } }) ?? false,
    caller: context.caller ?? { appId: '', tenantId: '' },
    params: validated(route.params, params, route.priority),
    query: route.query === undefined ? undefined : validated(route.query, queryOf(request), route.priority),
    body: route.body === undefined ? undefined : validated(route.body, bodyOf(route, bytes), route.priority),
  }
}

/** Fails once the request has passed the gates. */
async function reject(error: unknown): Promise<never> {
  throw await error
}

/** Too large a body is the first thing wrong, on paths that do not exist too. */
async function notFound(request: Request): Promise<unknown> {
  try {
    await readLimited(request)
    return apiError('notFound')
  } catch (error) {
    return error
  }
}

const bodyOf = (route: Route, bytes: Uint8Array): unknown =>
  route.bodyType === 'form' ? parseForm(bytes) : parseJson(bytes)

/** For what never reaches Elysia's own error hook, such as a thrown null. */
function lastResort(error: unknown): Response {
  const known = error instanceof ApiError
  return Response.json({ error: known ? error.message : 'Internal server error' }, { status: 500 })
}
