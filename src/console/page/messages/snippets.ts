import type { ListRow } from './row.ts'

type Sendable = Pick<ListRow, 'direction' | 'messageId' | 'from' | 'to' | 'body'>

/** The request that sends this text, or that reads this received one, for a shell. The key is a variable, never the session's token. */
export function asCurl(row: Sendable, origin: string): string {
  const auth = '-H "Authorization: Bearer $SGW_KEY"'
  if (row.direction === 'inbound') return `curl -s ${origin}/v1/sms/status/${row.messageId} ${auth}`
  return `curl -s ${origin}/v1/sms/send ${auth} \\\n  -d ${quoted(JSON.stringify({ from: row.from, to: row.to, body: row.body }))}`
}

/** The same with the typed client. */
export function asTypeScript(row: Sendable, origin: string): string {
  const call =
    row.direction === 'inbound'
      ? `await sgw.sms.get('${row.messageId}')`
      : `await sgw.sms.send(${JSON.stringify({ from: row.from, to: row.to, body: row.body })})`
  return [
    "import { Sgw } from 'sgw/client'",
    '',
    `const sgw = new Sgw({ baseUrl: '${origin}', apiKey: process.env.SGW_KEY ?? '' })`,
    call,
  ].join('\n')
}

/** For a POSIX shell: everything between single quotes is literal. */
const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`
