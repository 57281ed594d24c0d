import type { Message, NewMessage } from '../../../client/client.ts'

type Sendable = Pick<Message, 'direction' | 'messageId' | 'from' | 'to' | 'body'> &
  Partial<Pick<Message, 'userId' | 'sendAt'>>

/** The request that sends this text, or that reads a received one, for a shell. The key is a variable, never the session's token. */
export function asCurl(row: Sendable, origin: string): string {
  const auth = '-H "Authorization: Bearer $SGW_KEY"'
  if (row.direction === 'inbound') return `curl -s ${origin}/v1/sms/status/${row.messageId} ${auth}`
  return `curl -s ${origin}/v1/sms/send ${auth} \\\n  -d ${quoted(JSON.stringify(requestOf(row)))}`
}

/** The same with the typed client. */
export function asTypeScript(row: Sendable, origin: string): string {
  const call =
    row.direction === 'inbound'
      ? `await sgw.sms.get('${row.messageId}')`
      : `await sgw.sms.send(${JSON.stringify(requestOf(row))})`
  return [
    "import { Sgw } from 'sgw/client'",
    '',
    `const sgw = new Sgw({ baseUrl: '${origin}', apiKey: process.env.SGW_KEY ?? '' })`,
    call,
  ].join('\n')
}

/** The body of a send with everything that the message has. Its type has every field, so that the compiler reports a new one. */
function requestOf({ from, to, body, userId, sendAt }: Sendable): NewMessage {
  // Media is named by ids that last a day, so a copied request would not work for long.
  const request: Required<NewMessage> = {
    from,
    to,
    body,
    userId: userId ?? undefined,
    sendAt: sendAt ?? undefined,
    mediaIds: undefined,
  }
  return request
}

/** For a POSIX shell: everything between single quotes is literal. */
const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`
