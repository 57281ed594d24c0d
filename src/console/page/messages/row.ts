import type { Message, Waiting } from '../../../client/client.ts'
import type { LiveEvent } from '../state/live-event.ts'

export type { Waiting }

/** A message of the list, with `include=delivery`. */
export type ListRow = Message

export const contactOf = ({ direction, from, to }: ListRow): string => (direction === 'inbound' ? from : to)

export const ownNumberOf = ({ direction, from, to }: ListRow): string => (direction === 'inbound' ? to : from)

/** `1 attachment`; '' for a plain text. */
export const attachmentsText = (count = 0): string =>
  count === 0 ? '' : count === 1 ? '1 attachment' : `${count} attachments`

/** `“Hello from my…”`, cut to a length; if there is no text, the number of attachments. */
export function quotedText({ body, attachments }: Pick<Message, 'body' | 'attachments'>, length = Infinity): string {
  if (body === '') return attachmentsText(attachments)
  return `“${body.length > length ? `${body.slice(0, length)}…` : body}”`
}

/** The message of an event; null for events about no message. */
export const messageIdOf = (event: LiveEvent): string | null => ('messageId' in event ? event.messageId : null)

/** What events change in a message, or in the newest one of a conversation. */
type Changing = Pick<Message, 'status'> & Partial<Pick<Message, 'rcMessageId' | 'error' | 'waiting' | 'deliveryStatus'>>

/** The row after an event. A status never goes back, in case the list's answer was newer than the event. */
export function afterEvent<Row extends Changing>(row: Row, event: LiveEvent): Row {
  if (event.type === 'sms_status' && isLater(event.status, row.status))
    return {
      ...row,
      status: event.status,
      rcMessageId: event.rcMessageId ?? row.rcMessageId ?? null,
      error: event.error ?? row.error ?? null,
      updatedAt: event.timestamp,
      waiting: event.status === 'sending' ? (row.waiting ?? null) : null,
      ...(event.status === 'sent' && !row.deliveryStatus ? { deliveryStatus: 'pending' as const } : {}),
    }
  if (event.type === 'sms_delivery') {
    const { deliveryStatus, errorCode = null, reason } = event
    return { ...row, deliveryStatus, deliveryError: reason === undefined ? null : { code: errorCode, reason } }
  }
  return row
}

const ORDER: readonly Message['status'][] = ['queued', 'sending', 'sent', 'failed', 'received']
const isLater = (status: Message['status'], than: Message['status']): boolean =>
  ORDER.indexOf(status) > ORDER.indexOf(than)
