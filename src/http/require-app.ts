import { apiError } from '../core/errors.ts'
import type { Gateway } from '../gateway.ts'
import type { RequestContext } from './request-context.ts'

/** Which requests need no key: method and path of the endpoints declared so. */
export interface OpenPaths {
  has(method: string, path: string): boolean
}

const OPEN_WITHOUT_HTTPS = '/health'

/**
 * The gates that stand before the body is read, in the contract's order:
 * HTTPS → address block → key → tenant → key limit.
 */
export async function admit(
  gateway: Gateway,
  open: OpenPaths,
  request: Request,
  context: RequestContext,
): Promise<void> {
  if (gateway.config.production && !context.secure && context.path !== OPEN_WITHOUT_HTTPS)
    throw apiError('httpsRequired')
  if (context.path === '/ws') return refuseBlocked(gateway, context)
  if (!context.path.startsWith('/v1/') || open.has(request.method, context.path)) return
  refuseBlocked(gateway, context)
  const holder = await authenticate(gateway, request, context)
  if (!holder.tenantActive) throw apiError('tenantSuspended')
  context.limit = gateway.keyLimits.take(holder.appId)
  if (!context.limit.allowed) throw apiError('tooMany', context.limit.retryAfterSeconds)
  context.caller = { appId: holder.appId, tenantId: holder.tenantId }
  gateway.keys.noteUse(holder.appId)
}

function refuseBlocked(gateway: Gateway, context: RequestContext): void {
  const seconds = gateway.failedAttempts.blockedSeconds(context.address)
  if (seconds > 0) throw apiError('tooMany', seconds)
}

async function authenticate(
  gateway: Gateway,
  request: Request,
  context: RequestContext,
): ReturnType<typeof findHolder> {
  const header = request.headers.get('authorization')
  if (header === null) throw apiError('missingKey')
  if (!header.startsWith('Bearer sgw_')) {
    gateway.failedAttempts.note(context.address)
    throw apiError('missingKey')
  }
  return findHolder(gateway, header.slice('Bearer '.length), context)
}

async function findHolder(gateway: Gateway, key: string, context: RequestContext) {
  const holder = await gateway.keys.find(key)
  if (holder !== null) return holder
  // Of many guesses at once, those that the tenth one overtook are refused like all after it.
  refuseBlocked(gateway, context)
  gateway.failedAttempts.note(context.address)
  throw apiError('badKey')
}

/** Standing of the caller's key limit, in the form of the IETF draft "RateLimit header fields for HTTP". */
export function rateLimitHeaders({ limit }: RequestContext, headers: Record<string, string>): void {
  if (limit === null) return
  headers['ratelimit-policy'] = `"key";q=${limit.limit};w=60`
  headers['ratelimit'] = `"key";r=${limit.remaining};t=${limit.resetSeconds}`
}
