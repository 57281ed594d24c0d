import type { Call } from './http.ts'

/** A complete request at the start of the bytes (the part of HTTP/1.1, RFC 9112, that API clients use). */
export interface ParsedRequest {
  call: Call
  /** In bytes. */
  length: number
  /** Whether the client wants to keep using the connection. */
  keepAlive: boolean
}

/** `more`: not complete yet. `continue`: the client waits for 100 before its body. A number: the status of the refusal. */
export type ParseOutcome = ParsedRequest | 'more' | 'continue' | number

const HEAD_END = Buffer.from('\r\n\r\n')
const MAX_HEAD_BYTES = 65_536
const MAX_BODY_BYTES = 5_242_880
const REQUEST_LINE = /^([A-Z]+) (\S+) HTTP\/1\.([01])$/

export function parseRequest(bytes: Buffer): ParseOutcome {
  const headEnd = bytes.indexOf(HEAD_END)
  if (headEnd < 0) return bytes.length > MAX_HEAD_BYTES ? 431 : 'more'
  const [requestLine = '', ...lines] = bytes.toString('latin1', 0, headEnd).split('\r\n')
  const match = REQUEST_LINE.exec(requestLine)
  const headers = parseHeaders(lines)
  if (match === null || headers === null) return 400
  const body = parseBody(bytes, headEnd + HEAD_END.length, headers)
  if (typeof body !== 'object') return body
  const [, method = '', target = '', minor] = match
  const connection = headers['connection']?.toLowerCase() ?? ''
  const keepAlive = minor === '1' ? connection !== 'close' : connection === 'keep-alive'
  return { call: { method, ...splitTarget(target), headers, body: body.text }, length: body.end, keepAlive }
}

function splitTarget(target: string): { path: string; query: URLSearchParams } {
  const queryAt = target.indexOf('?')
  if (queryAt < 0) return { path: target, query: new URLSearchParams() }
  return { path: target.slice(0, queryAt), query: new URLSearchParams(target.slice(queryAt + 1)) }
}

/** Names in lower case. The last of repeated headers wins. Null if a line has no colon. */
function parseHeaders(lines: string[]): Record<string, string> | null {
  const headers: Record<string, string> = {}
  for (const line of lines) {
    const colon = line.indexOf(':')
    if (colon <= 0) return null
    headers[line.slice(0, colon).toLowerCase()] = line.slice(colon + 1).trim()
  }
  return headers
}

interface ParsedBody {
  text: string
  /** Where the next request begins. */
  end: number
}

function parseBody(
  bytes: Buffer,
  start: number,
  headers: Record<string, string>,
): ParsedBody | 'more' | 'continue' | number {
  if (headers['transfer-encoding']?.toLowerCase() === 'chunked') return parseChunks(bytes, start)
  const length = Number(headers['content-length'] ?? 0)
  if (!Number.isSafeInteger(length) || length < 0) return 400
  if (length > MAX_BODY_BYTES) return 413
  const end = start + length
  if (bytes.length >= end) return { text: bytes.toString('utf8', start, end), end }
  const waits = headers['expect']?.toLowerCase() === '100-continue' && bytes.length === start
  return waits ? 'continue' : 'more'
}

/** Chunked transfer coding (RFC 9112, section 7.1), without trailers. */
function parseChunks(bytes: Buffer, start: number): ParsedBody | 'more' | number {
  const parts: Buffer[] = []
  for (let at = start, total = 0; total <= MAX_BODY_BYTES;) {
    const lineEnd = bytes.indexOf('\r\n', at)
    if (lineEnd < 0) return 'more'
    const size = Number.parseInt(bytes.toString('latin1', at, lineEnd), 16)
    if (Number.isNaN(size)) return 400
    const end = lineEnd + 2 + size
    if (bytes.length < end + 2) return 'more'
    if (size === 0) return { text: Buffer.concat(parts).toString('utf8'), end: end + 2 }
    parts.push(bytes.subarray(lineEnd + 2, end))
    at = end + 2
    total += size
  }
  return 413
}
