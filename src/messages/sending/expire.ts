import { MAX_LOOKUP_MS } from '../../core/limits.ts'
import { MESSAGE_FAILURES, type MessageFailure } from '../../core/message-failure.ts'
import { inBatches } from '../../db/batches.ts'
import type { Row } from '../../db/connection.ts'
import { giveUp } from './attempt-store.ts'
import type { SendEngine } from './engine.ts'
import { loadMessages } from './outbound-message.ts'
import { IS_QUARANTINED } from './quarantine.ts'

const ROWS_AT_ONCE = 100

/** Send jobs in the order of acceptance. */
const OLDEST = `SELECT seq, subject, ${IS_QUARANTINED} AS is_quarantined, created_at FROM jobs INDEXED BY jobs_sends
  WHERE kind = 'send' AND seq > ?1 ORDER BY seq LIMIT ${ROWS_AT_ONCE}`

/** Ends messages older than `MAX_QUEUE_AGE`, in pages of 100 in job order, until a page has a young message. Returns how many were old. */
export async function expireMessages(engine: SendEngine, lifecycle: { draining: boolean }): Promise<number> {
  const { clock, config, database, clockCheck } = engine.context
  if (!clockCheck.isTrusted) return 0
  let cursor = 0
  return inBatches({ clock, lifecycle }, async () => {
    const before = clock.steady() - config.maxQueueAgeMs
    const { rows } = await database.gate.execute({ sql: OLDEST, args: [cursor] })
    const old = rows.filter((row) => Number(row['created_at']) < before)
    cursor = Number(rows.at(-1)?.['seq'] ?? 0)
    await expire(engine, old)
    return { count: old.length, last: old.length < ROWS_AT_ONCE }
  })
}

async function expire(engine: SendEngine, old: readonly Row[]): Promise<void> {
  const ids = old.map((row) => String(row['subject']))
  const messages = await loadMessages(engine.context.database.gate, ids)
  const ended = old.map(async (row) => {
    const message = messages.get(String(row['subject']))
    const failure = failureOfOld(engine, row)
    if (message === undefined || failure === null) return
    // SQL leaves out messages with an open attempt.
    if (await giveUp(engine.context, { jobSeq: Number(row['seq']) }, message, failure)) engine.messageEnded(message.id)
  })
  await Promise.all(ended)
}

/**
 * A quarantined message is looked up first. If it is too old, it ends as unconfirmed if no attempt was opened within ten minutes after the
 * start.
 */
function failureOfOld({ context, startedAt }: SendEngine, row: Row): MessageFailure | null {
  if (row['is_quarantined'] === 0) return MESSAGE_FAILURES.expired
  const isOver = context.clock.steady() > startedAt + MAX_LOOKUP_MS
  return isOver ? MESSAGE_FAILURES.unconfirmed : null
}
