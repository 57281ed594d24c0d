import { RESTORED_BOOT } from '../../db/restore-mark.ts'
import type { JsonRow, RowOperation } from '../../db/writer.ts'
import { ENSURE_LOOKUP } from './attempt-rows.ts'
import type { SendingContext } from './context.ts'
import type { Entry, OpenAttempt } from './number-queue.ts'
import { type OutboundMessage, uploadMsOf } from './outbound-message.ts'

// After a restore, messages that wait in the backup may have been sent already. The same is true for messages in a database of which another
// gateway has a copy, if the lease was abandoned (`noteDurability`). When the turn of such a message comes, the gateway opens an attempt
// without a call. Its outcome is unknown, so a lookup closes it like any other, and only then may the message be sent.

/**
 * SQL: whether the message of a send job is quarantined: it was in the backup, and no attempt of it has been opened since. Without
 * a restore this costs one search in a small table.
 */
export const IS_QUARANTINED = `EXISTS (SELECT 1 FROM facts AS restore
  CROSS JOIN messages AS kept ON kept.id = jobs.subject
    AND kept.seq BETWEEN restore.value ->> 'first' AND restore.value ->> 'last'
    AND coalesce(kept.send_at, 0) <= restore.value ->> 'sendAt'
  WHERE restore.name = 'quarantine' AND NOT EXISTS (SELECT 1 FROM send_attempts AS opened
    WHERE opened.message_id = kept.id AND opened.seq > restore.value ->> 'attempt'))`

interface QuarantineRow extends JsonRow {
  messageId: string
  jobSeq: number
  tenantId: string
  extensionId: string
  from: string
  to: string
  /** Steady times. */
  startedAt: number
  absentAfter: number
  lookupAt: number
  storedAt: number
}

/** Opens the attempt of a quarantined message. Returns one row, with `attempt_seq`, if the conversation has no open attempt. */
export const OPEN_QUARANTINED: RowOperation<QuarantineRow> = {
  key: 'messageId',
  statements: [
    `INSERT INTO send_attempts (message_id, tenant_id, extension_id, from_number, to_number, boot_id, started_at, outcome, absent_after)
    SELECT input.messageId, input.tenantId, input.extensionId, input."from", input."to", '${RESTORED_BOOT}', input.startedAt,
      'unknown', input.absentAfter
    FROM input WHERE EXISTS (SELECT 1 FROM jobs WHERE jobs.seq = input.jobSeq)
    ON CONFLICT DO NOTHING RETURNING message_id AS key, seq AS attempt_seq`,
    ...ENSURE_LOOKUP,
  ],
}

/**
 * Opens the attempt of a quarantined message. It counts as started when the message entered its queue, because older records cannot be its
 * own. By the end of the settle time all calls from before the restore have ended. Returns null if no attempt was opened.
 */
export async function openQuarantined(
  { clock, config, database }: SendingContext,
  { messageId, jobSeq, queue, to }: Entry,
  extensionId: string,
  message: OutboundMessage,
): Promise<OpenAttempt | null> {
  const storedAt = Math.ceil(clock.steady())
  const ageMs = clock.now() - Math.max(message.createdAt, message.sendAt ?? 0)
  const startedAt = storedAt - Math.max(0, Math.floor(ageMs))
  const uploadMs = uploadMsOf({ config }, message)
  const absentAfter = storedAt + config.reconcileSettleMs + uploadMs
  const rows = await database.writer.row(OPEN_QUARANTINED, {
    messageId,
    jobSeq,
    tenantId: queue.tenantId,
    extensionId,
    from: queue.number,
    to,
    startedAt,
    absentAfter,
    lookupAt: storedAt,
    storedAt,
  })
  const seq = rows[0]?.['attempt_seq']
  if (seq === undefined) return null
  return {
    seq: Number(seq),
    extensionId,
    startedAt,
    providerStartedAt: null,
    absentAfter,
    uploadMs,
    durationMs: null,
    isOwn: false,
  }
}
