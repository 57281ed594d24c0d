import { uploadMs } from '../../core/upload-time.ts'
import type { MessageStatus } from '../../db/schema/messages.ts'
import type { Gate } from '../../db/gate.ts'
import { RESTORED_BOOT } from '../../db/restore-mark.ts'
import type { Attachment } from '../../provider/provider.ts'
import { attachmentsOf } from '../media/attachments.ts'
import type { SendingContext } from './context.ts'

/** The fields of an outbound message that sending needs and its entry does not have. */
export interface OutboundMessage {
  id: string
  body: string
  /** The media that it carries, in order, each by its id. Empty for a text. */
  attachments: readonly Attachment[]
  status: MessageStatus
  /** Epoch milliseconds. */
  createdAt: number
  /** When a scheduled message entered its queue, epoch milliseconds; null for any other. */
  sendAt: number | null
  /** How many attempts were found absent, and how many of the latest in a row were turned away (`call-failures.ts`). */
  absents: number
  consecutiveTurnaways: number
}

/** Excludes attempts opened after a restore, which made no call. */
export const WAS_CALLED = `boot_id != '${RESTORED_BOOT}'`

/** All answers that did not accept the message are turnaways, except a 429 and the provider's own 401, which has a code. */
const IS_TURNAWAY = `outcome IS 'not_accepted' AND coalesce(http_status, 429) != 429 AND (http_status != 401 OR error_code IS NULL)`

const MESSAGES = `SELECT value AS id, m.body, m.attachments, m.status, m.created_at, m.send_at,
    (SELECT count(*) FROM send_attempts WHERE message_id = m.id AND resolution = 'absent' AND ${WAS_CALLED}) AS absents,
    (SELECT count(*) FROM send_attempts WHERE message_id = m.id AND ${IS_TURNAWAY}
      AND seq > coalesce((SELECT max(seq) FROM send_attempts WHERE message_id = m.id AND NOT (${IS_TURNAWAY})), 0)) AS consecutive_turnaways
  FROM json_each(?1) JOIN messages AS m ON m.id = value`

/** Reads messages in one query. */
export async function loadMessages(gate: Gate, ids: readonly string[]): Promise<Map<string, OutboundMessage>> {
  const { rows } = await gate.execute({ sql: MESSAGES, args: [JSON.stringify(ids)] })
  return new Map(rows.map((row) => [String(row['id']), toMessage(row)]))
}

const toMessage = (row: Record<string, unknown>): OutboundMessage => ({
  id: String(row['id']),
  body: String(row['body']),
  attachments: attachmentsOf(row['attachments']),
  status: row['status'] as MessageStatus,
  createdAt: Number(row['created_at']),
  sendAt: row['send_at'] === null ? null : Number(row['send_at']),
  absents: Number(row['absents']),
  consecutiveTurnaways: Number(row['consecutive_turnaways']),
})

/** Whether a status is final. */
export const isEnded = (status: unknown): boolean => status === 'sent' || status === 'failed' || status === 'received'

/** How much longer a message's call, and the settle time after it, may take than a text's. */
export const uploadMsOf = (
  { config }: Pick<SendingContext, 'config'>,
  { attachments }: Pick<OutboundMessage, 'attachments'>,
): number =>
  attachments.length === 0
    ? 0
    : uploadMs(
        config.providerTimeoutMs,
        attachments.reduce((sum, { size }) => sum + (size ?? 0), 0),
      )
