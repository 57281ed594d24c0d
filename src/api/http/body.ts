import { z } from 'zod'
import { ApiError, apiError } from '../../core/errors.ts'
import { parseExactJson } from '../../core/exact-json.ts'
import { MAX_BODY_ENTRIES, MAX_JSON_DEPTH, MAX_JSON_MEMBERS, MAX_REQUEST_BODY_BYTES } from '../../core/limits.ts'
import { type Route, takesAnyJson } from './route.ts'

/**
 * Reads a body of at most 102,400 bytes, unless its endpoint has another limit. A larger one gets a 413: immediately if Content-Length says so,
 * otherwise while reading.
 */
export function readLimited(request: Request, maxBytes = MAX_REQUEST_BODY_BYTES): Promise<Uint8Array> {
  const declared = request.headers.get('content-length')
  if (declared !== null && Number(declared) > maxBytes) throw apiError('tooLarge')
  // Uses `request.body` only where needed: it creates a stream, which takes longer than reading a small body.
  if (declared !== null) return request.bytes().catch(brokenOff)
  if (!request.headers.has('transfer-encoding') || request.body === null) return NO_BODY
  return readCounting(request.body, maxBytes).catch(brokenOff)
}

const NO_BODY = Promise.resolve(new Uint8Array(0))

/** The client has aborted the body. That is not the gateway's error, so it is not logged. */
function brokenOff(error: unknown): never {
  throw error instanceof ApiError ? error : apiError('badJson')
}

const UTF8 = new TextDecoder('utf-8', { fatal: true })

/** The body of an endpoint, in its form and not longer than its schema needs. */
export function bodyOf(route: Route, bytes: Uint8Array): unknown {
  if (takesAnyJson(route)) return parseJson(bytes, parseExactJson)
  const { body, bodyType, maxBodyEntries } = route
  return withoutLongArrays(bodyType === 'form' ? parseForm(bytes) : parseJson(bytes), body, maxBodyEntries)
}

/**
 * Shortens the lists of a body to one entry more than it may have, which its schema still refuses. The schema would check each entry of a long
 * list before it counts them. Only known fields are examined: a body may have thousands of others.
 */
export function withoutLongArrays(body: unknown, schema: z.ZodType | undefined, most = MAX_BODY_ENTRIES): unknown {
  if (typeof body !== 'object' || body === null || !(schema instanceof z.ZodObject)) return body
  const fields = body as Record<string, unknown>
  for (const name of Object.keys(schema.shape)) {
    const value = fields[name]
    if (Array.isArray(value) && value.length > most) fields[name] = value.slice(0, most + 1)
  }
  return body
}

/** Parses JSON, regardless of the Content-Type. No body counts as `{}`. */
export function parseJson(bytes: Uint8Array, parse: (text: string) => unknown = JSON.parse): unknown {
  if (bytes.length === 0) return {}
  if (excessOf(bytes) !== null) throw apiError('badJson')
  try {
    return parse(UTF8.decode(bytes))
  } catch {
    throw apiError('badJson')
  }
}

/** Parses a form, or JSON if the text begins with `{`. Invalid JSON has no fields, so that a person gets a page instead of a JSON error. */
function parseForm(bytes: Uint8Array): unknown {
  const text = new TextDecoder().decode(bytes)
  if (!text.trimStart().startsWith('{')) return Object.fromEntries(new URLSearchParams(firstFields(text)))
  try {
    return parseJson(bytes)
  } catch {
    return {}
  }
}

/** The gateway's pages send one field. Reading every field that fits into a body would hold the event loop. */
const firstFields = (form: string): string => form.split('&', MAX_BODY_ENTRIES).join('&')

async function readCounting(stream: ReadableStream<Uint8Array>, maxBytes: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of stream) {
    length += chunk.length
    if (length > maxBytes) throw apiError('tooLarge')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks, length)
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COLON = 0x3a
const [OPEN_ARRAY, OPEN_OBJECT, CLOSE_ARRAY, CLOSE_OBJECT] = [0x5b, 0x7b, 0x5d, 0x7d]

/**
 * The limit that JSON exceeds, if any. Such JSON is refused before it is parsed, because parsing it takes far longer than sending it. Null if
 * it has neither.
 */
export const excessOf = (bytes: Uint8Array): 'depth' | 'members' | null =>
  hasMore(bytes, [OPEN_ARRAY, OPEN_OBJECT], MAX_JSON_DEPTH) || hasMore(bytes, [COLON], MAX_JSON_MEMBERS)
    ? excessOfRead(bytes)
    : null

/** Most bodies have few, and finding these takes far less time than reading every byte here. */
function hasMore(bytes: Uint8Array, wanted: readonly number[], limit: number): boolean {
  let found = 0
  for (const byte of wanted)
    for (let at = bytes.indexOf(byte); at >= 0; at = bytes.indexOf(byte, at + 1)) if (++found > limit) return true
  return false
}

function excessOfRead(bytes: Uint8Array): 'depth' | 'members' | null {
  let depth = 0
  let members = 0
  let inString = false
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i] ?? 0
    if (inString) {
      if (byte === BACKSLASH) i++
      else if (byte === QUOTE) inString = false
    } else if (byte === QUOTE) inString = true
    else if (byte === COLON) {
      if (++members > MAX_JSON_MEMBERS) return 'members'
    } else if (byte === OPEN_ARRAY || byte === OPEN_OBJECT) {
      if (++depth > MAX_JSON_DEPTH) return 'depth'
    } else if (byte === CLOSE_ARRAY || byte === CLOSE_OBJECT) depth--
  }
  return null
}
