import { connect } from 'node:net'

/** A raw answer. */
export interface RawAnswer {
  status: number
  /** Names in lower case. */
  headers: Record<string, string>
  body: string
}

/**
 * Writes bytes to a socket and reads the answers until the server closes the connection or `until` returns true. It can send
 * requests that no HTTP client would send. `next` is sent on the same connection when the answer before it is complete.
 */
export function exchange(
  url: string,
  request: string | Uint8Array,
  until: (text: string) => boolean = isComplete,
  next: { after(text: string): boolean; request: string } | null = null,
): Promise<string> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => socket.write(request))
    let text = ''
    let waiting = next
    socket.setTimeout(5000, () => socket.destroy(new Error(`No end of the answer within 5 s: ${text.slice(0, 200)}`)))
    socket.on('data', (bytes) => {
      text += bytes.toString('latin1')
      if (waiting?.after(text) === true) {
        socket.write(waiting.request)
        waiting = null
      }
      if (until(text)) socket.destroy()
    })
    socket.on('close', () => resolve(text))
    // A refused upload may be reset after its answer.
    socket.on('error', (error) => (text === '' ? reject(error) : resolve(text)))
  })
}

/** Sends a request and returns the first answer. */
export async function ask(url: string, lines: readonly string[], body = ''): Promise<RawAnswer> {
  const [answer] = parseAnswers(await exchange(url, `${lines.join('\r\n')}\r\n\r\n${body}`))
  if (answer === undefined) throw new Error('The connection was closed without an answer')
  return answer
}

/** Parses consecutive answers of one connection, each with a Content-Length. */
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

/** Whether the first answer is complete. An answer to HEAD ends with its headers. */
function isComplete(text: string): boolean {
  const end = text.indexOf('\r\n\r\n')
  if (end < 0) return false
  const length = /\r\ncontent-length: (\d+)/i.exec(text.slice(0, end))?.[1]
  return length === undefined || text.length >= end + 4 + Number(length)
}
