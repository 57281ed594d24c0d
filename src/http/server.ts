import { Elysia } from 'elysia'
import { ApiError, apiError } from '../core/errors.ts'
import type { Gateway, Traffic } from '../gateway.ts'
import type { SocketData } from '../realtime/sockets.ts'
import { parseForm, parseJson, readLimited } from './body.ts'
import { FrontDesk } from './front-desk.ts'
import { type Inquiry, type RequestContext, queryOf } from './request-context.ts'
import { type Route, type RouteInput, validated } from './route.ts'

/** Above this Bun itself answers, without our JSON. Far above our own limit, which is counted while reading. */
const BACKSTOP_BODY_BYTES = 2 ** 40

/** Bun counts to 255. */
const SLOW_ANSWER_SECONDS = 240

/** What is served beside the endpoints: no key, no schema. */
export interface Page {
  path: string
  answer(): Response | Promise<Response>
}

/**
 * Elysia with these endpoints and pages. It finds the route; everything else about a request is done in one go at the
 * front desk, without its hooks: they would cost more than the rest of a request.
 */
export function createServer(gateway: Gateway, routes: readonly Route[], pages: readonly Page[] = []) {
  const desk = new FrontDesk(gateway, routes)
  const app = new Elysia({ serve: { development: false, maxRequestBodySize: BACKSTOP_BODY_BYTES, error: lastResort } })
  app.onError({ as: 'global' }, ({ error, code, request, server }) =>
    desk.answer({ request, server }, () => reject(code === 'NOT_FOUND' ? notFound(request) : error)),
  )
  for (const route of routes) {
    app.route(route.method, route.path, ({ request, params, server }) =>
      desk.answer({ request, server }, (context) => runRoute(gateway, route, { request, server }, context, params)),
    )
  }
  for (const { path, answer } of pages)
    app.get(path, ({ request, server }) =>
      desk.answer({ request, server }, async () => ({ status: 200, content: await answer() })),
    )
  return app
}

export type Server = ReturnType<typeof createServer>

/** `caller` stays demanded here even if a request finds a way around the gate's idea of its path. */
async function runRoute(
  gateway: Gateway,
  route: Route,
  { request, server }: Inquiry,
  context: RequestContext,
  params: RouteInput['params'],
): Promise<{ status: number; content: unknown }> {
  const { caller } = context
  if (route.slow === true) server?.timeout(request, SLOW_ANSWER_SECONDS)
  if (route.auth === 'app' && caller === null) throw apiError('missingKey')
  const before = route.before?.({ gateway, request })
  const admitted: unknown = before instanceof Promise ? await before : before
  const bytes = await readLimited(request)
  const upgrade = (data: SocketData): boolean =>
    server?.upgrade(request, { data, headers: { 'x-request-id': context.requestId } }) ?? false
  const input: RouteInput = {
    gateway,
    request,
    context,
    admitted,
    bytes,
    upgrade,
    caller: caller ?? { appId: '', tenantId: '' },
    params: validated(route.params, params, route.priority),
    query: route.query === undefined ? undefined : validated(route.query, queryOf(request), route.priority),
    body: route.body === undefined ? undefined : validated(route.body, bodyOf(route, request, bytes), route.priority),
  }
  const content = route.slow === true ? await route.run(input) : await counted(gateway.traffic, route.run(input))
  return { status: route.status, content }
}

async function counted<T>(traffic: Traffic, answer: T | Promise<T>): Promise<T> {
  traffic.answering++
  try {
    return await answer
  } finally {
    traffic.answering--
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

const bodyOf = (route: Route, request: Request, bytes: Uint8Array): unknown =>
  route.bodyType === 'form' ? parseForm(bytes, request.headers.get('content-type')) : parseJson(bytes)

/** For what never reaches Elysia's own error hook, such as a thrown null. */
function lastResort(error: unknown): Response {
  const known = error instanceof ApiError
  return Response.json({ error: known ? error.message : 'Internal server error' }, { status: 500 })
}
