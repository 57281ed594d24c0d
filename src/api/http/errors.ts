import { ApiError, type ErrorKind, apiError } from '../../core/errors.ts'
import { type Log, errorName, unexpected } from '../../core/log.ts'
import { damageOf, isStorageFault } from '../../db/gate.ts'
import type { Gateway } from '../../messages/gateway.ts'

/** Maps kinds of errors to HTTP statuses. */
const STATUS: Record<ErrorKind, number> = {
  invalid: 400,
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  conflict: 409,
  timeout: 408,
  too_large: 413,
  unsupported: 415,
  too_many: 429,
  unavailable: 503,
  bad_gateway: 502,
}

/** Nothing reads the rest of the client's body, so it must not use the same connection again. */
const LEAVES_BODY: readonly ErrorKind[] = ['timeout', 'too_large', 'unsupported']

const STORAGE_RETRY_SECONDS = 5

export interface ErrorAnswer {
  status: number
  body: { error: string }
  headers: Record<string, string>
}

/** The answer to an error, in the contract's form. An unexpected error is logged, and the answer reveals nothing about it. */
export function errorAnswer(error: unknown, log: Log, requestId: string): ErrorAnswer {
  if (error instanceof ApiError) {
    const headers: Record<string, string> = {}
    if (error.retryAfterSeconds !== null) headers['retry-after'] = String(error.retryAfterSeconds)
    if (error.kind === 'unauthorized') headers['www-authenticate'] = 'Bearer'
    if (LEAVES_BODY.includes(error.kind)) headers['connection'] = 'close'
    return { status: STATUS[error.kind], body: { error: error.message }, headers }
  }
  // `Storage` logs the fault once a minute, not once per request.
  if (isStorageFault(error)) return errorAnswer(apiError('storageUnavailable', STORAGE_RETRY_SECONDS), log, requestId)
  log.error({ requestId, ...unexpected(error) }, 'request failed')
  return { status: 500, body: { error: 'Internal server error' }, headers: {} }
}

/** The same for the operator on this machine, who may read what went wrong. */
export function localErrorAnswer(error: unknown, { log, config }: Gateway, requestId: string): ErrorAnswer {
  if (error instanceof ApiError) return errorAnswer(error, log, requestId)
  log.error({ requestId, ...unexpected(error) }, 'command failed')
  const damage = damageOf(error, config.database.path ?? config.database.url)
  return {
    status: 500,
    body: { error: damage ?? `The command failed (${errorName(error)}): see the log` },
    headers: {},
  }
}
