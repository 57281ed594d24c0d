import type { BodyPart } from './multipart.ts'
import type { Session } from './sessions.ts'

/** A request as plain values. */
export interface Call {
  method: string
  path: string
  query: URLSearchParams
  /** Names in lower case. */
  headers: Record<string, string>
  /** Of a multipart body the first part. */
  body: string
  /** The further parts of a multipart body that could be read. */
  files?: BodyPart[]
  /** The session of the socket over which it came; absent if it came by HTTP. */
  socket?: SocketOrigin
}

/** A session of the WebSocket gateway, and the login that it belongs to. */
export interface SocketOrigin {
  token: string
  owner: Session
}

export interface Reply {
  status: number
  headers: Record<string, string>
  body: string
  /** Sent instead of `body`. */
  bytes?: Uint8Array
}

const JSON_TYPE = 'application/json;charset=utf-8'

export const json = (status: number, value: unknown, headers: Record<string, string> = {}): Reply => ({
  status,
  headers: { 'Content-Type': JSON_TYPE, ...headers },
  body: JSON.stringify(value),
})

export const html = (status: number, body: string): Reply => ({
  status,
  headers: { 'Content-Type': 'text/html;charset=utf-8' },
  body,
})

export const empty = (status: number): Reply => ({ status, headers: {}, body: '' })

export const redirect = (location: string): Reply => ({ status: 302, headers: { Location: location }, body: '' })

/** A header's value, or an empty string. */
export const header = (call: Call, name: string): string => call.headers[name] ?? ''

/** The media type alone, in lower case: `application/json`. */
export const mediaType = (call: Call): string => mediaTypeOf(header(call, 'content-type'))

export const mediaTypeOf = (value: string): string => (value.split(';')[0] ?? '').trim().toLowerCase()

/** Parses a JSON object. Null if the body is anything else. */
export function jsonObject(body: string): Record<string, unknown> | null {
  try {
    return asObject(JSON.parse(body))
  } catch {
    return null
  }
}

export function isJson(body: string): boolean {
  try {
    JSON.parse(body)
    return true
  } catch {
    return false
  }
}

export const asObject = (value: unknown): Record<string, unknown> | null =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : null
