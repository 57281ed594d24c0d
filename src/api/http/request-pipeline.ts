import { apiError } from '../../core/errors.ts'
import type { Gateway } from '../../messages/gateway.ts'
import { admitOperator } from './admit-operator.ts'
import { Cors } from './cors.ts'
import { type JsonBody, WrittenJson, compressedBody, plainBody } from './json-body.ts'
import { type ErrorAnswer, errorAnswer, localErrorAnswer } from './errors.ts'
import { Peers, type ReceivedRequest, RequestContext } from './request-context.ts'
import { type KeylessPaths, admit, rateLimitHeaders } from './admit.ts'
import { httpsRule } from './require-https.ts'
import type { Route } from './route.ts'
import { untrustedForwarding } from './untrusted-forwarding.ts'

export interface Content {
  status: number
  /** A response is sent unchanged, anything else as JSON. `undefined` if the request has become a WebSocket. */
  content: unknown
  /** Whether the content has a secret. */
  secret?: boolean
}

/** Nothing between gateway and caller may keep what a key reads. Files of pages set their own rules. */
const NO_STORE = 'no-store'

/** The steps of every request: request id, CORS, checks before the body, endpoint, rate-limit headers, errors. */
export class RequestPipeline {
  readonly #peers: Peers
  readonly #requireHttps: ReturnType<typeof httpsRule>
  readonly #noteForwarding: ReturnType<typeof untrustedForwarding>
  readonly #cors: Cors
  readonly #makeId: () => string
  readonly #keyless: KeylessPaths

  constructor(
    readonly gateway: Gateway,
    routes: readonly Route[],
    /** Whether every request is the operator's, so that none needs a key. */
    readonly local: boolean,
  ) {
    const { trustedProxies, plainHttpCidrs, corsOrigins } = gateway.config
    this.#peers = new Peers(trustedProxies, plainHttpCidrs, corsOrigins)
    this.#requireHttps = httpsRule(gateway)
    this.#noteForwarding = untrustedForwarding(gateway)
    this.#makeId = () => gateway.ids.of('req')
    this.#cors = new Cors(gateway.config.corsOrigins)
    this.#keyless = keylessPaths(routes)
  }

  /** Answers a request. Calls `run` only if the request is admitted. */
  async answer(
    received: ReceivedRequest,
    run: (context: RequestContext) => Promise<Content>,
  ): Promise<Response | undefined> {
    const { request } = received
    const context = new RequestContext(received, this.#peers, this.#makeId)
    this.#noteForwarding(context)
    const headers = this.#cors.headersFor(request)
    headers['x-request-id'] = context.requestId
    const preflight = this.#cors.preflight(request)
    if (preflight !== null) return new Response(null, { status: 204, headers: { ...headers, ...preflight } })
    try {
      refuseTwoHosts(request)
      if (!this.local) this.#requireHttps(context)
      const admitting = this.local
        ? admitOperator(this.gateway, null, request, context)
        : admit(this.gateway, this.#keyless, request, context)
      if (admitting !== undefined) await admitting
      const { status, content, secret = false } = await run(context)
      if (content === undefined) return undefined
      if (secret) headers['x-content-type-options'] = 'nosniff'
      if (content instanceof Response) return withHeaders(content, headers, context)
      const written = content instanceof WrittenJson ? content : JSON.stringify(content)
      // The length of a compressed answer says something about its content. On the Unix socket, bytes cost nothing.
      const isRead = request.method === 'GET' || request.method === 'HEAD'
      const mayCompress = isRead && !secret && !this.local
      return jsonAnswer(
        mayCompress ? await compressedBody(request, written, headers) : plainBody(written),
        status,
        headers,
        context,
      )
    } catch (error) {
      const { status, body, headers: own } = this.#errorAnswer(error, context.requestId)
      return jsonAnswer(JSON.stringify(body), status, { ...headers, ...own }, context)
    }
  }

  #errorAnswer(error: unknown, requestId: string): ErrorAnswer {
    return this.local
      ? localErrorAnswer(error, this.gateway, requestId)
      : errorAnswer(error, this.gateway.log, requestId)
  }
}

/**
 * Bun joins them (`a, b`) and takes the first, where a proxy may have taken the last (RFC 9112, section 3.2). A single one has no comma.
 */
function refuseTwoHosts(request: Request): void {
  if (request.headers.get('host')?.includes(',') === true) throw apiError('badHost')
}

function withHeaders(answer: Response, headers: Record<string, string>, context: RequestContext): Response {
  addCommonHeaders(headers, context)
  if (!answer.headers.has('cache-control')) answer.headers.set('cache-control', NO_STORE)
  for (const [name, value] of Object.entries(headers))
    if (name === 'vary') answer.headers.append(name, value)
    else answer.headers.set(name, value)
  return answer
}

function jsonAnswer(
  body: JsonBody,
  status: number,
  headers: Record<string, string>,
  context: RequestContext,
): Response {
  addCommonHeaders(headers, context)
  headers['content-type'] = 'application/json'
  headers['cache-control'] = NO_STORE
  return new Response(body, { status, headers })
}

function addCommonHeaders(headers: Record<string, string>, context: RequestContext): void {
  rateLimitHeaders(context, headers)
  if (context.ignored.length > 0) headers['x-ignored-fields'] = context.ignored.join(', ')
}

function keylessPaths(routes: readonly Route[]): KeylessPaths {
  const keyless = Map.groupBy(
    routes.filter(({ auth }) => auth === 'none'),
    ({ path }) => path,
  )
  return {
    has: (method, path) =>
      keyless.get(path)?.some((route) => route.method === (method === 'HEAD' ? 'GET' : method)) ?? false,
  }
}
