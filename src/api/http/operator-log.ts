import type { LogFields } from '../../core/log.ts'
import type { Gateway } from '../../messages/gateway.ts'
import type { RequestContext } from './request-context.ts'
import type { Route } from './route.ts'

/** Logs each change that an operator makes: who, what, and whom it concerns, as named in request and answer. */
export function logChange(
  { log }: Gateway,
  { method }: Route,
  { operator, caller, path, requestId }: RequestContext,
  [asked, answered]: readonly [unknown, unknown],
): void {
  if (operator === null || method === 'GET') return
  const named = { ...asObject(asked), ...asObject(answered) }
  const session = operator.sessionId ?? 'socket'
  const whom = Object.fromEntries(CONCERNED.map((name) => [name, textIn(named[name])]))
  const fields: LogFields = { requestId, session, method, path, ...whom }
  log.audit(caller === null ? fields : { ...fields, appId: caller.appId }, 'an operator made a change')
}

/** Fields of a request or an answer that say whom a change concerns. They are ids, states and addresses of clients. */
const CONCERNED = ['tenantId', 'appId', 'status', 'address'] as const

const textIn = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)

const asObject = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !(value instanceof Response) ? { ...value } : {}
