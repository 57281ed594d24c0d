import type { FailureCode } from '../core/message-failure.ts'
import type { RowOperation } from '../db/writer.ts'
import { countErrors, countUsage } from '../usage/roll-up.ts'
import { endingMessages } from './ending-messages.ts'

/** A message that ends without a call. */
export interface GiveUpRow extends Record<string, string | number> {
  messageId: string
  jobSeq: number
  error: string
  failureCode: FailureCode
  now: number
}

const HAS_NO_ATTEMPT = `NOT EXISTS (SELECT 1 FROM send_attempts AS open WHERE open.message_id = input.messageId AND open.closed_at IS NULL)`

/** Ends a message that has no open attempt, and its job. Returns one row if the message was changed. */
export const GIVE_UP: RowOperation<GiveUpRow> = {
  key: 'messageId',
  statements: [
    countErrors({ ...endingMessages(HAS_NO_ATTEMPT), error: 'input.error' }),
    countUsage({ ...endingMessages(HAS_NO_ATTEMPT), counts: { failed: '1' } }),
    `UPDATE messages SET status = 'failed', error = input.error, error_code = input.failureCode, updated_at = input.now
    FROM input WHERE messages.id = input.messageId AND messages.status IN ('queued', 'sending')
      AND ${HAS_NO_ATTEMPT} RETURNING id AS key`,
    `DELETE FROM jobs WHERE seq IN (SELECT input.jobSeq FROM input)
    AND NOT EXISTS (SELECT 1 FROM messages WHERE messages.id = jobs.subject AND messages.status IN ('queued', 'sending'))`,
  ],
}
