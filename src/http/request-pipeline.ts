import type { Gateway } from '../gateway.ts'
import { Cors } from './cors.ts'
import { errorAnswer } from './errors.ts'
import { type Inquiry, Peers, RequestContext } from './request-context.ts'
import { type OpenPaths, admit, rateLimitHeaders } from './require-app.ts'
import type { Route } from './route.ts'
import { untrustedForwarding } from './untrusted-forwarding.ts'

export interface Content {
  status: number
  /** A response is given as it is, `undefined` when the request has become a WebSocket, everything else as JSON. */
  content: unknown
}

/** What every request passes and every answer carries: its id, CORS, the gates, the standing of its limit, the errors. */
export class RequestPipeline {
  readonly #peers: Peers
  readonly #noteForwarding: ReturnType<typeof untrustedForwarding>
  readonly #cors: Cors
  readonly #makeId: () => string
  readonly #open: OpenPaths

  constructor(
    readonly gateway: Gateway,
    routes: readonly Route[],
  ) {
    this.#peers = new Peers(gateway.config.trustedProxies)
    this.#noteForwarding = untrustedForwarding(gateway)
    this.#makeId = () => gateway.ids.of('req')
    this.#cors = new Cors(gateway.config.corsOrigins)
    this.#open = openPaths(routes)
  }

  /** Answers once `run`, which is only asked when the gates are passed, has said what. */
  async answer(inquiry: Inquiry, run: (context: RequestContext) => Promise<Content>): Promise<Response | undefined> {
    const { request } = inquiry
    const context = new RequestContext(inquiry, this.#peers, this.#makeId)
    this.#noteForwarding(context)
    const headers = this.#cors.headersFor(request)
    headers['x-request-id'] = context.requestId
    const preflight = this.#cors.preflight(request)
    if (preflight !== null) return new Response(null, { status: 204, headers: { ...headers, ...preflight } })
    try {
      const admitted = admit(this.gateway, this.#open, request, context)
      if (admitted !== undefined) await admitted
      const { status, content } = await run(context)
      return content === undefined ? undefined : withHeaders(content, status, headers, context)
    } catch (error) {
      const { status, body, headers: own } = errorAnswer(error, this.gateway.log, context.requestId)
      return withHeaders(body, status, { ...headers, ...own }, context)
    }
  }
}

function withHeaders(
  content: unknown,
  status: number,
  headers: Record<string, string>,
  context: RequestContext,
): Response {
  rateLimitHeaders(context, headers)
  if (content instanceof Response) {
    for (const name in headers) content.headers.set(name, headers[name] ?? '')
    return content
  }
  headers['content-type'] = 'application/json'
  return new Response(JSON.stringify(content), { status, headers })
}

function openPaths(routes: readonly Route[]): OpenPaths {
  const open = Map.groupBy(
    routes.filter(({ auth }) => auth === 'none'),
    ({ path }) => path,
  )
  return {
    has: (method, path) =>
      open.get(path)?.some((route) => route.method === (method === 'HEAD' ? 'GET' : method)) ?? false,
  }
}
