import { sleep } from '../../core/clock.ts'
import { RETRY_AFTER_FAULT_MS } from '../../core/limits.ts'
import { errorName } from '../../core/log.ts'
import { isConstraint } from '../../db/gate.ts'
import type { SendingContext } from './context.ts'
import type { Entry } from './number-queue.ts'

// A disk may fail after a commit: the writer reports a failure although the rows are stored.

/** Closes an attempt whose commit failed, if it was stored after all: its call was never made. */
export async function undoAttempt(context: SendingContext, { messageId }: Entry, error: unknown): Promise<void> {
  const { clock, database, bootId, log } = context
  log.error({ messageId, error: errorName(error) }, 'an attempt could not be opened')
  const sql = `UPDATE send_attempts SET outcome = 'not_accepted', closed_at = ?2, absent_after = NULL
    WHERE message_id = ?1 AND closed_at IS NULL AND boot_id = ?3`
  await untilDone(context, 'an attempt that was not made cannot be closed', () =>
    database.writer.write([{ sql, args: [messageId, Math.ceil(clock.steady()), bootId] }]),
  )
}

/** Returns the `seq` of the job of a message whose commit failed; null if nothing was stored. */
export async function findStoredJob(context: SendingContext, { messageId, queue }: Entry): Promise<number | null> {
  const sql = `SELECT seq FROM jobs WHERE kind = 'send' AND lane = ?1 AND tenant_id = ?2 AND subject = ?3`
  const args = [queue.number, queue.tenantId, messageId]
  const { rows } = await untilDone(context, 'a message whose commit failed cannot be looked for', () =>
    context.database.gate.execute({ sql, args }),
  )
  return rows[0] === undefined ? null : Number(rows[0]['seq'])
}

/** Repeats work on the database until it is done, and logs each failure as `problem`. Throws only for a violated constraint. */
export async function untilDone<T>(
  { clock, log }: Pick<SendingContext, 'clock' | 'log'>,
  problem: string,
  work: () => Promise<T>,
): Promise<T> {
  for (;;) {
    try {
      return await work()
    } catch (error) {
      if (isConstraint(error)) throw error
      log.error({ error: errorName(error) }, `${problem}, trying again`)
      await sleep(clock, RETRY_AFTER_FAULT_MS)
    }
  }
}
