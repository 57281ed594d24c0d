import { apiError } from '../../core/errors.ts'
import { APP_ID } from '../../core/ids.ts'
import type { Gateway } from '../../messages/gateway.ts'
import type { RequestContext } from './request-context.ts'

/** The operator's own endpoints. All others belong to apps. */
export const isOperatorPath = (path: string): boolean => path.startsWith('/v1/operator/')

/**
 * Admits the request of an operator's token. The order is that of `admit`: 401, then 403, then 429. A token whose session has
 * ended is refused, but does not count as a failed attempt.
 */
export async function admitSession(
  gateway: Gateway,
  token: string,
  request: Request,
  context: RequestContext,
): Promise<void> {
  const { address } = context
  const { operatorSessions, operatorLimits, config, failedAttempts } = gateway
  const session = config.console ? await operatorSessions.find(token) : null
  if (session === null) {
    // If the tenth of many concurrent guesses has caused a block in the meantime, this one is refused like all after it.
    const seconds = failedAttempts.blockedSeconds(address)
    if (seconds > 0) throw apiError('tooMany', seconds)
    failedAttempts.note(address)
  }
  if (session === null || !operatorSessions.isLive(session)) throw apiError('badKey')
  await admitOperator(gateway, session.sessionId, request, context)
  context.limit = operatorLimits.take(session.sessionId)
  if (!context.limit.allowed) throw apiError('tooMany', context.limit.retryAfterSeconds)
}

/** An operator who has suspended a tenant whose key leaked can still cancel its messages and disconnect its extensions. */
const TAKING_BACK = /^\/v1\/(sms|rc\/extensions)\/[^/]+$/

/** Admits the operator, and finds the app that `Sgw-App` names. `sessionId` is null for a command on this machine. */
export async function admitOperator(
  gateway: Gateway,
  sessionId: string | null,
  request: Request,
  context: RequestContext,
): Promise<void> {
  context.operator = { sessionId }
  if (isOperatorPath(context.endpointPath)) return
  const appId = request.headers.get('sgw-app')
  if (appId === null) return void (context.callerError = 'missingApp')
  if (!APP_ID.test(appId)) return void (context.callerError = 'badAppId')
  const app = await gateway.keys.findApp(appId)
  const isReading = request.method === 'GET' || request.method === 'HEAD'
  const isTakingBack = request.method === 'DELETE' && TAKING_BACK.test(context.endpointPath)
  if (app !== null && !app.tenantActive && !isReading && !isTakingBack) throw apiError('tenantSuspended')
  // On this machine the tenant is named, and all its apps may be inactive.
  const serves = app?.isActive === true || isReading || (isTakingBack && sessionId === null)
  if (app === null || !serves) return void (context.callerError = 'appNotFound')
  context.caller = { appId, tenantId: app.tenantId, sessionId }
}
