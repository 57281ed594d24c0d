import { errorName } from '../core/log.ts'
import type { Row } from '../db/connection.ts'
import type { SendingContext } from './context.ts'
import type { Entry } from './number-queue.ts'

// A disk may fail after a commit: the writer reports a failure although the rows are stored.

const TRY_AGAIN_MS = 1000

/** Closes an attempt whose commit failed, if it was stored: its call was never made. Returns no rows, as a refused `CLAIM` does. */
export async function undoClaim(context: SendingContext, entry: Entry, error: unknown): Promise<Row[]> {
  context.log.error({ messageId: entry.messageId, error: errorName(error) }, 'an attempt could not be opened')
  await untilDone(context, () =>
    context.database.writer.write([
      {
        sql: `UPDATE send_attempts SET outcome = 'not_accepted', closed_at = ?2, absent_after = NULL
          WHERE message_id = ?1 AND closed_at IS NULL AND boot_id = ?3`,
        args: [entry.messageId, Math.ceil(context.clock.steady()), context.bootId],
      },
    ]),
  )
  return []
}

/** Returns the job of a message whose commit failed; null if nothing was stored. */
export async function findOrphanedJob(context: SendingContext, entry: Entry): Promise<number | null> {
  const { tenantId, number } = entry.queue
  const sql = `SELECT seq FROM jobs WHERE kind = 'send' AND lane = ?1 AND tenant_id = ?2 AND subject = ?3`
  const { rows } = await untilDone(context, () =>
    context.database.gate.execute({ sql, args: [number, tenantId, entry.messageId] }),
  )
  return rows[0] === undefined ? null : Number(rows[0]['seq'])
}

async function untilDone<T>({ clock }: SendingContext, run: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await run()
    } catch {
      await new Promise<void>((resolve) => clock.after(TRY_AGAIN_MS, resolve))
    }
  }
}
