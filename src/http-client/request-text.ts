/** Header lines as they stand in a request. The caller must not pass names or values with line breaks. */
export function headerLines(headers: Readonly<Record<string, string>>): string {
  let lines = ''
  for (const name in headers) lines += `${name}: ${headers[name]}\r\n`
  return lines
}

/** A complete HTTP/1.1 request (RFC 9112). `lines` has `Host` at least; `Content-Length` is added to a POST. */
export function requestText(method: string, target: string, lines: string, body: string | null): string {
  const head = `${method} ${target} HTTP/1.1\r\n${lines}`
  if (method !== 'POST') return `${head}\r\n`
  return `${head}Content-Length: ${Buffer.byteLength(body ?? '')}\r\n\r\n${body ?? ''}`
}
