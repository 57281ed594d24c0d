import { isJson, json, type Reply } from './http.ts'

/**
 * RingCentral has two error forms. API calls return `errorCode`, `message` and `errors[]` (RingCentral API reference,
 * "Error handling"), with extra members both in the entry and at the top level. OAuth calls return the members of RFC 6749
 * and `errors[]`.
 */
export function apiError(status: number, code: string, message: string, options: ErrorOptions = {}): Reply {
  const extra = options.extra ?? {}
  const body = {
    errorCode: options.topLevel ?? code,
    message,
    errors: [{ errorCode: code, message, ...extra }],
    ...extra,
  }
  return json(status, body, options.headers)
}

export interface ErrorOptions {
  /** The legacy word at the top level, where the platform sends one instead of the code. */
  topLevel?: string
  /** Members such as `parameterName`. */
  extra?: Record<string, unknown>
  headers?: Record<string, string>
}

export function oauthError(
  status: number,
  error: string,
  code: string,
  message: string,
  extra: Record<string, unknown> = {},
): Reply {
  return json(status, { error, errors: [{ errorCode: code, message, ...extra }], error_description: message })
}

export const invalidGrant = (code: string, message: string): Reply => oauthError(400, 'invalid_grant', code, message)

export const invalidParameter = (name: string): Reply =>
  apiError(400, 'CMN-101', `Parameter [${name}] value is invalid.`, {
    topLevel: 'InvalidParameter',
    extra: { parameterName: name },
  })

/** The app lacks a permission (RingCentral API reference, "Error handling"). */
export const appNeeds = (permission: string): Reply =>
  apiError(403, 'CMN-401', `In order to call this API endpoint, application needs to have [${permission}] permission`, {
    topLevel: 'InsufficientPermissions',
    extra: { permissionName: permission },
  })

export const notFound = (parameter: string): Reply =>
  apiError(404, 'CMN-102', `Resource for parameter [${parameter}] is not found`, {
    topLevel: 'ResourceNotFound',
    extra: { parameterName: parameter },
  })

/** The body is not JSON, or not a JSON object (RingCentral developer guide, "General API error codes"). */
export const unreadableBody = (body: string): Reply =>
  isJson(body) ? apiError(400, 'CMN-104', 'Cannot parse request') : apiError(400, 'CMN-103', "JSON can't be parsed.")

/** The platform has no such path (same table). */
export const invalidUri = (): Reply => apiError(404, 'CMN-120', 'Invalid URI')

export const badParameter = (code: string, message: string): Reply =>
  apiError(400, code, message, { topLevel: 'InvalidParameter' })

export const unauthorized = (code: string, topLevel: string, message: string): Reply =>
  apiError(401, code, message, { topLevel })

export const rateExceeded = (headers: Record<string, string>): Reply =>
  apiError(429, 'CMN-301', 'Request rate exceeded', {
    headers: {
      'WWW-Authenticate':
        'Bearer realm="RingCentral REST API", error="CMN-301", error_description="Request rate exceeded"',
      ...headers,
    },
  })
