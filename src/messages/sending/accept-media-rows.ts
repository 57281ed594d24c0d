import type { RowOperation } from '../../db/writer.ts'
import {
  ACCEPT,
  ACCEPT_AGAIN,
  ACCEPT_ONCE,
  type AcceptRow,
  type NewMessage,
  SCHEDULE,
  SCHEDULE_ONCE,
  type ScheduledMessage,
  acceptStatements,
  again,
  once,
  scheduleStatements,
} from './accept-rows.ts'
import { ALWAYS } from './attempt-rows.ts'

// What a message with media stores in addition. Separate operations, so that texts cost nothing more.

/** The media may have been deleted since it was looked up. */
const HAS_MEDIA = `NOT EXISTS (SELECT 1 FROM json_each(input.attachments) AS carried
  LEFT JOIN media ON media.id = carried.value ->> 'attachmentId' AND media.sha256 IS NOT NULL WHERE media.id IS NULL)`

const SET_ATTACHMENTS = `UPDATE messages SET attachments = input.attachments FROM input
  WHERE messages.id = input.messageId AND messages.tenant_id = input.tenantId`

const INSERT_USES = `INSERT INTO media_uses (media_id, message_id) SELECT carried.value ->> 'attachmentId', input.messageId
  FROM input CROSS JOIN json_each(input.attachments) AS carried`

/** The statements of an acceptance, and those that keep the message's media. */
const withMedia =
  (statements: (condition: string) => string[]) =>
  (condition: string): string[] => {
    const all = `${condition} AND ${HAS_MEDIA}`
    return [...statements(all), `${SET_ATTACHMENTS} AND ${all}`, `${INSERT_USES} WHERE ${all}`]
  }

const ACCEPT_MEDIA: RowOperation<AcceptRow> = {
  key: 'messageId',
  statements: withMedia(acceptStatements)(ALWAYS),
}
const ACCEPT_MEDIA_ONCE = once<AcceptRow>(withMedia(acceptStatements), HAS_MEDIA)
const ACCEPT_MEDIA_AGAIN = again(withMedia(acceptStatements), HAS_MEDIA)
const SCHEDULE_MEDIA: RowOperation<ScheduledMessage> = {
  key: 'messageId',
  statements: withMedia(scheduleStatements)(ALWAYS),
}
const SCHEDULE_MEDIA_ONCE = once<ScheduledMessage>(withMedia(scheduleStatements), HAS_MEDIA)

/** The operation that stores a message that may start immediately. */
export function acceptOperation({ attachments, idempotencyKey, resentFrom }: NewMessage): RowOperation<AcceptRow> {
  if (resentFrom !== null) return attachments === null ? ACCEPT_AGAIN : ACCEPT_MEDIA_AGAIN
  if (attachments === null) return idempotencyKey === null ? ACCEPT : ACCEPT_ONCE
  return idempotencyKey === null ? ACCEPT_MEDIA : ACCEPT_MEDIA_ONCE
}

/** The same for a scheduled message. */
export function scheduleOperation({ attachments, idempotencyKey }: NewMessage): RowOperation<ScheduledMessage> {
  if (attachments === null) return idempotencyKey === null ? SCHEDULE : SCHEDULE_ONCE
  return idempotencyKey === null ? SCHEDULE_MEDIA : SCHEDULE_MEDIA_ONCE
}
