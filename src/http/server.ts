import { Elysia } from 'elysia'
import { ApiError, apiError } from '../core/errors.ts'
import type { Gateway } from '../gateway.ts'
import type { SocketData } from '../realtime/sockets.ts'
import { parseForm, parseJson, readLimited } from './body.ts'
import { Cors } from './cors.ts'
import { errorAnswer } from './errors.ts'
import { Peers, type RequestContext, pathOf, queryOf, requestIdOf } from './request-context.ts'
import { type OpenPaths, admit, rateLimitHeaders } from './require-app.ts'
import { type Route, type RouteInput, validated } from './route.ts'
import { untrustedForwarding } from './untrusted-forwarding.ts'

/** Above this Bun itself answers, without our JSON. Far above our own limit, which is counted while reading. */
const BACKSTOP_BODY_BYTES = 2 ** 40

/** Elysia with our gates, our errors and these endpoints. */
export function createServer(gateway: Gateway, routes: readonly Route[]) {
  const contexts = new WeakMap<Request, RequestContext>()
  const peers = new Peers(gateway.config.trustedProxies)
  const noteForwarding = untrustedForwarding(gateway, peers)
  const cors = new Cors(gateway.config.corsOrigins)
  const open = openPaths(routes)
  const app = new Elysia({ serve: { development: false, maxRequestBodySize: BACKSTOP_BODY_BYTES, error: lastResort } })
    .onRequest(async ({ request, server, set }) => {
      const peer = server?.requestIP(request)?.address ?? ''
      noteForwarding(peer, request)
      const context = contextOf(gateway, peers, request, peer)
      contexts.set(request, context)
      Object.assign(set.headers, { 'x-request-id': context.requestId }, cors.headersFor(request))
      const preflight = cors.preflight(request)
      if (preflight !== null) return new Response(null, { status: 204, headers: preflight })
      try {
        await admit(gateway, open, request, context)
      } finally {
        Object.assign(set.headers, rateLimitHeaders(context))
      }
    })
    .onError({ as: 'global' }, async ({ error, code, request, set }) => {
      const context = contexts.get(request)
      const answer = errorAnswer(
        code === 'NOT_FOUND' ? await notFound(request) : error,
        gateway.log,
        context?.requestId ?? '',
      )
      set.status = answer.status
      Object.assign(set.headers, answer.headers)
      return answer.body
    })
  for (const route of routes) {
    app.route(route.method, route.path, async ({ request, params, set, server }) => {
      const context = contexts.get(request)
      if (context === undefined) throw new Error('A request passed no gate')
      const upgrade = (data: SocketData): boolean =>
        server?.upgrade(request, { data, headers: { 'x-request-id': context.requestId } }) ?? false
      const answer = await runRoute(gateway, route, { request, context, params, upgrade })
      if (answer !== undefined && !(answer instanceof Response)) set.status = route.status
      return answer
    })
  }
  return app
}

export type Server = ReturnType<typeof createServer>

/** `caller` stays demanded here even if a request finds a way around the gate's idea of its path. */
async function runRoute(
  gateway: Gateway,
  route: Route,
  given: Pick<RouteInput, 'request' | 'context' | 'params' | 'upgrade'>,
): Promise<unknown> {
  const { request, context } = given
  const { caller } = context
  if (route.auth === 'app' && caller === null) throw apiError('missingKey')
  const admitted = await route.before?.({ gateway, request })
  const bytes = await readLimited(request)
  return route.run({
    ...given,
    gateway,
    admitted,
    bytes,
    caller: caller ?? { appId: '', tenantId: '' },
    params: validated(route.params, given.params, route.priority),
    query: validated(route.query, queryOf(request), route.priority),
    body: route.body === undefined ? undefined : validated(route.body, bodyOf(route, request, bytes), route.priority),
  })
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

function contextOf(gateway: Gateway, peers: Peers, request: Request, socketAddress: string): RequestContext {
  return {
    requestId: requestIdOf(request, () => gateway.ids.of('req')),
    path: pathOf(request),
    address: peers.addressOf(socketAddress, request),
    secure: peers.isSecure(socketAddress, request),
    caller: null,
    limit: null,
  }
}

function openPaths(routes: readonly Route[]): OpenPaths {
  const open = new Set(routes.filter((route) => route.auth === 'none').map((route) => `${route.method} ${route.path}`))
  return { has: (method, path) => open.has(`${method === 'HEAD' ? 'GET' : method} ${path}`) }
}

/** For what never reaches Elysia's own error hook, such as a thrown null. */
function lastResort(error: unknown): Response {
  const known = error instanceof ApiError
  return Response.json({ error: known ? error.message : 'Internal server error' }, { status: 500 })
}
