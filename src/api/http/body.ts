import { ApiError, apiError } from '../../core/errors.ts'
import { MAX_BODY_ENTRIES, MAX_JSON_DEPTH, MAX_REQUEST_BODY_BYTES } from '../../core/limits.ts'

/** Reads a body of at most 102,400 bytes, unless its endpoint has another limit. A larger one is 413: at once if Content-Length says so, otherwise while reading. */
export function readLimited(request: Request, maxBytes = MAX_REQUEST_BODY_BYTES): Promise<Uint8Array> {
  const declared = request.headers.get('content-length')
  if (declared !== null && Number(declared) > maxBytes) throw apiError('tooLarge')
  // Uses `request.body` only where needed: it creates a stream, which takes longer than reading a small body.
  if (declared !== null) return request.bytes().catch(brokenOff)
  if (!request.headers.has('transfer-encoding') || request.body === null) return NO_BODY
  return readCounting(request.body, maxBytes).catch(brokenOff)
}

const NO_BODY = Promise.resolve(new Uint8Array(0))

/** The client has broken off the body. That is not an error of the gateway, so it is not logged. */
function brokenOff(error: unknown): never {
  throw error instanceof ApiError ? error : apiError('badJson')
}

const UTF8 = new TextDecoder('utf-8', { fatal: true })

/** Parses JSON, whatever the Content-Type is. No body counts as `{}`. */
export function parseJson(bytes: Uint8Array, parse: (text: string) => unknown = JSON.parse): unknown {
  if (bytes.length === 0) return {}
  if (isTooDeep(bytes)) throw apiError('badJson')
  try {
    return parse(UTF8.decode(bytes))
  } catch {
    throw apiError('badJson')
  }
}

/** Parses a form, or JSON if the text begins with `{`. Invalid JSON has no fields, so that a person gets a page instead of a JSON error. */
export function parseForm(bytes: Uint8Array): unknown {
  const text = new TextDecoder().decode(bytes)
  if (!text.trimStart().startsWith('{')) return Object.fromEntries(new URLSearchParams(firstFields(text)))
  try {
    return parseJson(bytes)
  } catch {
    return {}
  }
}

/** A page of ours sends one field. Reading all that fit into a body would hold the event loop. */
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
const [OPEN_ARRAY, OPEN_OBJECT, CLOSE_ARRAY, CLOSE_OBJECT] = [0x5b, 0x7b, 0x5d, 0x7d]

/** Deep nesting is refused before it is parsed, because parsing it takes far more time than sending it. */
export const isTooDeep = (bytes: Uint8Array): boolean => hasManyBrackets(bytes) && isDeep(bytes)

/** Most bodies have few, and finding these takes far less time than reading every byte here. */
function hasManyBrackets(bytes: Uint8Array): boolean {
  let found = 0
  for (const bracket of [OPEN_ARRAY, OPEN_OBJECT])
    for (let at = bytes.indexOf(bracket); at >= 0; at = bytes.indexOf(bracket, at + 1))
      if (++found > MAX_JSON_DEPTH) return true
  return false
}

function isDeep(bytes: Uint8Array): boolean {
  let depth = 0
  let inString = false
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i] ?? 0
    if (inString) {
      if (byte === BACKSLASH) i++
      else if (byte === QUOTE) inString = false
    } else if (byte === QUOTE) inString = true
    else if (byte === OPEN_ARRAY || byte === OPEN_OBJECT) {
      if (++depth > MAX_JSON_DEPTH) return true
    } else if (byte === CLOSE_ARRAY || byte === CLOSE_OBJECT) depth--
  }
  return false
}
