import { attachmentsText } from '../messages/row.ts'
import type { Message } from '../../../client/client.ts'

/** `“Hello from my…”`, cut to a length; if there is no text, the number of attachments. */
export function quotedText({ body, attachments }: Pick<Message, 'body' | 'attachments'>, length = Infinity): string {
  if (body === '') return attachmentsText(attachments)
  return `“${body.length > length ? `${body.slice(0, length)}…` : body}”`
}
