import type { Gate } from '../db/gate.ts'
import type { ReadTurns } from '../db/read-turns.ts'
import type { NumberQueue } from './number-queue.ts'

export interface JobReads {
  gate: Gate
  turns: ReadTurns
}

/** Index entries that one statement counts: less than a millisecond. */
const ROWS_PER_SLICE = 5000

const slice = (where: string): string => `SELECT count(*) AS count, max(seq) AS last
  FROM (SELECT seq FROM jobs WHERE tenant_id = ?1 AND ${where} AND seq > ?2 ORDER BY seq LIMIT ${ROWS_PER_SLICE})`

const SCHEDULED = slice(`kind = 'schedule'`)
const OF_QUEUE = slice(`kind = 'send' AND lane = ?3`)

/** How many of a tenant's messages are scheduled. */
export const countScheduled = (reads: JobReads, tenantId: string): Promise<number> => count(reads, SCHEDULED, tenantId)

/** How many messages of a queue have not ended. */
export const countQueue = (
  reads: JobReads,
  { tenantId, number }: Pick<NumberQueue, 'tenantId' | 'number'>,
): Promise<number> => count(reads, OF_QUEUE, tenantId, number)

async function count({ gate, turns }: JobReads, sql: string, tenantId: string, ...more: string[]): Promise<number> {
  let [total, after] = [0, 0]
  for (;;) {
    const { rows } = await gate.execute({ sql, args: [tenantId, after, ...more] })
    const found = Number(rows[0]?.['count'] ?? 0)
    total += found
    if (found < ROWS_PER_SLICE) return total
    after = Number(rows[0]?.['last'])
    await turns.next(tenantId)
  }
}
