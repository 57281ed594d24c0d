/** An unmodified HTTP/1.1 response (RFC 9112), read from a socket. */
export interface RawResponse {
  status: number
  /** Names in lower case. */
  headers: Record<string, string>
  /** The bytes read so far: status line, headers and body. */
  bytes: number
}

export interface RawReader {
  promise: Promise<RawResponse>
  data(chunk: Buffer): void
  /** Call when the server has closed the connection, which completes a response without a length. */
  end(): void
}

const HEAD_END = '\r\n\r\n'
const MAX_HEAD_BYTES = 65_536

/** Resolves when the response is complete or larger than `enoughBytes`. Rejects if it is not HTTP. */
export function readRawResponse(enoughBytes: number): RawReader {
  const { promise, resolve, reject } = Promise.withResolvers<RawResponse>()
  let text = ''

  function check(closed: boolean): void {
    const headEnd = text.indexOf(HEAD_END)
    if (headEnd < 0) {
      if (closed || text.length > MAX_HEAD_BYTES) reject(new Error('No HTTP response'))
      return
    }
    const head = parseHead(text.slice(0, headEnd))
    if (head === null) return reject(new Error('No HTTP response'))
    const body = text.slice(headEnd + HEAD_END.length)
    const done = closed || isComplete(head, body) || text.length > enoughBytes
    if (done) resolve({ ...head, bytes: text.length })
  }

  return {
    promise,
    data(chunk) {
      text += chunk.toString('latin1')
      check(false)
    },
    end: () => check(true),
  }
}

function parseHead(head: string): Omit<RawResponse, 'bytes'> | null {
  const [statusLine = '', ...lines] = head.split('\r\n')
  const status = /^HTTP\/1\.[01] (\d{3})/.exec(statusLine)?.[1]
  if (status === undefined) return null
  const headers: Record<string, string> = {}
  for (const line of lines) {
    const colon = line.indexOf(':')
    if (colon > 0) headers[line.slice(0, colon).toLowerCase()] = line.slice(colon + 1).trim()
  }
  return { status: Number(status), headers }
}

function isComplete({ status, headers }: Omit<RawResponse, 'bytes'>, body: string): boolean {
  if (status === 204 || status === 304) return true
  if (headers['transfer-encoding']?.toLowerCase() === 'chunked') return /(^|\r\n)0\r\n(.*\r\n)?\r\n$/.test(body)
  const length = headers['content-length']
  return length !== undefined && body.length >= Number(length)
}
