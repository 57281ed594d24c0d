import { connect } from 'node:net'

/** An answer as it came over the wire. */
export interface RawAnswer {
  status: number
  /** Names in lower case. */
  headers: Record<string, string>
  body: string
}

/**
 * Writes bytes to a socket and reads the answers until the other side closes, or `until` is content with what came.
 * For requests that no HTTP client would send.
 */
export function exchange(
  url: string,
  request: string | Uint8Array,
  until: (text: string) => boolean = isComplete,
): Promise<string> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => socket.write(request))
    let text = ''
    socket.setTimeout(5000, () => socket.destroy(new Error(`No end of the answer within 5 s: ${text.slice(0, 200)}`)))
    socket.on('data', (bytes) => {
      text += bytes.toString('latin1')
      if (until(text)) socket.destroy()
    })
    socket.on('close', () => resolve(text))
    // A reset after the answer is what a refused upload meets.
    socket.on('error', (error) => (text === '' ? reject(error) : resolve(text)))
  })
}

/** The first answer to a request. */
export async function ask(url: string, lines: readonly string[], body = ''): Promise<RawAnswer> {
  const [answer] = parseAnswers(await exchange(url, `${lines.join('\r\n')}\r\n\r\n${body}`))
  if (answer === undefined) throw new Error('The connection was closed without an answer')
  return answer
}

/** Answers that follow each other on one connection, each with its Content-Length. */
export function parseAnswers(text: string): RawAnswer[] {
  const answers: RawAnswer[] = []
  for (let rest = text; rest !== '';) {
    const end = rest.indexOf('\r\n\r\n')
    if (end < 0) break
    const [statusLine = '', ...fields] = rest.slice(0, end).split('\r\n')
    const headers = Object.fromEntries(
      fields.map((field) => [
        field.slice(0, field.indexOf(':')).toLowerCase(),
        field.slice(field.indexOf(':') + 1).trim(),
      ]),
    )
    const length = Number(headers['content-length'] ?? 0)
    answers.push({ status: Number(statusLine.split(' ')[1]), headers, body: rest.slice(end + 4, end + 4 + length) })
    rest = rest.slice(end + 4 + length)
  }
  return answers
}

/** True when the first answer is there as a whole; a HEAD's has no body, and ends with its headers. */
function isComplete(text: string): boolean {
  const end = text.indexOf('\r\n\r\n')
  if (end < 0) return false
  const length = /\r\ncontent-length: (\d+)/i.exec(text.slice(0, end))?.[1]
  return length === undefined || text.length >= end + 4 + Number(length)
}
