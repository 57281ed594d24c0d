import type { KeyHolder } from '../../auth/key-ring.ts'
import { isOperatorToken } from '../../auth/operator-sessions.ts'
import { noteShortKey } from '../../auth/short-key.ts'
import { apiError } from '../../core/errors.ts'
import type { Gateway } from '../../messages/gateway.ts'
import { admitSession, isOperatorPath } from './admit-operator.ts'
import type { RequestContext } from './request-context.ts'
import { noteKeyMistake } from './request-mistakes.ts'

/** Methods and paths of the endpoints that need no key. */
export interface KeylessPaths {
  has(method: string, path: string): boolean
}

/** They need no key before the body, but check a credential later. */
const CHECKS_CREDENTIALS: readonly string[] = ['/ws', '/v1/operator/session']

/**
 * Admits a request or throws. These checks come before the body is read, in the contract's order, after that of HTTPS
 * (`require-https.ts`): address block → key → tenant → key limit.
 * Returns a promise only if a key must be looked up, because reading a body after an `await` takes as long as all checks.
 */
export function admit(
  gateway: Gateway,
  keyless: KeylessPaths,
  request: Request,
  context: RequestContext,
): Promise<void> | undefined {
  if (CHECKS_CREDENTIALS.includes(context.endpointPath)) refuseBlocked(gateway, context)
  if (!context.endpointPath.startsWith('/v1/') || keyless.has(request.method, context.endpointPath)) return
  refuseBlocked(gateway, context)
  const key = presentedKey(gateway, request, context)
  if (isOperatorToken(key)) return admitSession(gateway, key, request, context)
  const known = gateway.keys.known(key)
  return known === undefined ? admitUnknown(gateway, key, context) : letIn(gateway, known, context)
}

function refuseBlocked(gateway: Gateway, context: RequestContext): undefined {
  if (!gateway.failedAttempts.anyBlocked) return
  const seconds = gateway.failedAttempts.blockedSeconds(context.address)
  if (seconds > 0) throw apiError('tooMany', seconds)
}

function presentedKey(gateway: Gateway, request: Request, context: RequestContext): string {
  const header = request.headers.get('authorization')
  if (header?.startsWith('Bearer sgw_') === true) return header.slice('Bearer '.length)
  if (header !== null) gateway.failedAttempts.note(context.address)
  noteKeyMistake(gateway, context, header)
  throw apiError('missingKey')
}

async function admitUnknown(gateway: Gateway, key: string, context: RequestContext): Promise<void> {
  const { address } = context
  const holder = await gateway.keys.find(key)
  if (holder !== null) return letIn(gateway, holder, context)
  // If the tenth of many concurrent guesses has caused a block in the meantime, this one is refused like all after it.
  refuseBlocked(gateway, context)
  gateway.failedAttempts.note(address)
  noteShortKey(gateway, key, context.requestId)
  throw apiError('badKey')
}

function letIn(gateway: Gateway, holder: KeyHolder, context: RequestContext): undefined {
  if (!holder.tenantActive) throw apiError('tenantSuspended')
  if (gateway.config.console && isOperatorPath(context.endpointPath)) throw apiError('forbidden')
  context.limit = gateway.keyLimits.take(holder.appId)
  if (!context.limit.allowed) throw apiError('tooMany', context.limit.retryAfterSeconds)
  context.caller = { appId: holder.appId, tenantId: holder.tenantId }
  gateway.keys.noteUse(holder.appId)
}

/** Adds the state of the caller's key limit, as in the IETF draft "RateLimit header fields for HTTP". */
export function rateLimitHeaders({ limit }: RequestContext, headers: Record<string, string>): void {
  if (limit === null) return
  headers['ratelimit-policy'] = `"key";q=${limit.limit};w=60`
  headers['ratelimit'] = `"key";r=${limit.remaining};t=${limit.resetSeconds}`
}
