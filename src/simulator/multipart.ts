/** One part of a multipart body. */
export interface BodyPart {
  /** Names in lower case. */
  headers: Record<string, string>
  bytes: Uint8Array
}

/** The parts of a multipart body (RFC 2046, section 5.1.1). Null if it has another type, no boundary, or no end. */
export function readParts(contentType: string, body: Buffer): BodyPart[] | null {
  const boundary = boundaryOf(contentType)
  if (boundary === null) return null
  // A delimiter is a line of its own. The first one may be the first line of all.
  const bytes = Buffer.concat([LINE, body])
  const delimiter = Buffer.from(`\r\n--${boundary}`)
  const parts: BodyPart[] = []
  for (let at = bytes.indexOf(delimiter); at !== -1;) {
    const start = at + delimiter.length
    if (bytes.subarray(start, start + 2).equals(END)) return parts
    const next = bytes.indexOf(delimiter, start)
    const part = next === -1 ? null : readPart(bytes.subarray(start, next))
    if (part === null || parts.length === MAX_PARTS) return null
    parts.push(part)
    at = next
  }
  return null
}

/** A message has ten files. More than this, or longer headers, would hold the process for seconds. */
const MAX_PARTS = 50
const MAX_HEADERS_BYTES = 8192

const LINE = Buffer.from('\r\n')
const EMPTY_LINE = Buffer.from('\r\n\r\n')
const END = Buffer.from('--')
/** RFC 2046: one to seventy of these characters, and no space at the end. */
const BOUNDARY = /^multipart\/[^;]+;(?:.*;)?\s*boundary=(?:"([^"]+)"|([^\s;"]+))/i
const BOUNDARY_CHARACTERS = /^[\w'()+,./:=? -]{0,69}[\w'()+,./:=?-]$/

function boundaryOf(contentType: string): string | null {
  const [, quoted, bare] = BOUNDARY.exec(contentType) ?? []
  const boundary = quoted ?? bare ?? ''
  return BOUNDARY_CHARACTERS.test(boundary) ? boundary : null
}

/** Reads what is between two delimiters: the rest of a line, headers, an empty line, content. */
function readPart(bytes: Buffer): BodyPart | null {
  const start = bytes.subarray(0, MAX_HEADERS_BYTES)
  const headersAt = start.indexOf(LINE)
  const contentAt = start.indexOf(EMPTY_LINE)
  if (headersAt === -1 || contentAt === -1 || !/^[ \t]*$/.test(bytes.toString('latin1', 0, headersAt))) return null
  const headers = readHeaders(bytes.toString('utf8', headersAt, contentAt))
  return headers === null ? null : { headers, bytes: bytes.subarray(contentAt + EMPTY_LINE.length) }
}

const HEADER = /^([\w-]+):[ \t]*(.*?)[ \t]*$/

function readHeaders(text: string): Record<string, string> | null {
  const headers = new Map<string, string>()
  for (const line of text.split('\r\n').filter((one) => one !== '')) {
    const [, name, value] = HEADER.exec(line) ?? []
    if (name === undefined || value === undefined) return null
    headers.set(name.toLowerCase(), value)
  }
  return Object.fromEntries(headers)
}

/** The value of a parameter such as `filename`, also in the form of RFC 5987. Null if the header has none. */
export function parameterOf(value: string, name: string): string | null {
  const encoded = new RegExp(`;\\s*${name}\\*=UTF-8''([^;\\s]+)`, 'i').exec(value)?.[1]
  if (encoded !== undefined) return decoded(encoded)
  const [, quoted, bare] = new RegExp(`;\\s*${name}=(?:"((?:[^"\\\\]|\\\\.)*)"|([^;\\s"]+))`, 'i').exec(value) ?? []
  return quoted?.replaceAll(/\\(.)/g, '$1') ?? bare ?? null
}

function decoded(value: string): string {
  try {
    return decodeURIComponent(value)
  } catch {
    return value
  }
}
