/** Formats the header lines of a request. Names and values must not contain line breaks. */
export function headerLines(headers: Readonly<Record<string, string>>): string {
  let lines = ''
  for (const name in headers) lines += `${name}: ${headers[name]}\r\n`
  return lines
}

/** Formats a complete HTTP/1.1 request (RFC 9112). `lines` must include `Host`. A POST gets a `Content-Length`. */
export function requestText(method: string, target: string, lines: string, body: string | null): string {
  const head = `${method} ${target} HTTP/1.1\r\n${lines}`
  if (method !== 'POST') return `${head}\r\n`
  return `${head}Content-Length: ${Buffer.byteLength(body ?? '')}\r\n\r\n${body ?? ''}`
}

/** What a connection writes: a text, or pieces in order. */
export type WritableRequest = string | readonly (string | Uint8Array)[]

/** The same for a POST whose body is in pieces. */
export function uploadOf(target: string, lines: string, body: readonly Uint8Array[]): WritableRequest {
  const length = body.reduce((sum, piece) => sum + piece.length, 0)
  return [`POST ${target} HTTP/1.1\r\n${lines}Content-Length: ${length}\r\n\r\n`, ...body]
}
