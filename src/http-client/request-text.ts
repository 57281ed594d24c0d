/** Header lines as they stand in a request. Names and values must be sound: a line break among them is the caller's mistake. */
export function headerLines(headers: Readonly<Record<string, string>>): string {
  let lines = ''
  for (const name in headers) lines += `${name}: ${headers[name]}\r\n`
  return lines
}

/** A whole request of HTTP/1.1 (RFC 9112). `lines` holds `Host` at least; a POST's length is put behind them. */
export function requestText(method: string, target: string, lines: string, body: string | null): string {
  const head = `${method} ${target} HTTP/1.1\r\n${lines}`
  if (method !== 'POST') return `${head}\r\n`
  return `${head}Content-Length: ${Buffer.byteLength(body ?? '')}\r\n\r\n${body ?? ''}`
}
