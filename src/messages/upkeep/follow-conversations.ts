import { setImmediate as nextTick } from 'node:timers/promises'
import type { Database } from '../../db/database.ts'
import { isStorageFault } from '../../db/gate.ts'
import type { Gateway } from '../gateway.ts'

/** The fact that stores up to which `seq` of `messages` the conversations are known; absent until the first list request. */
export const FOLLOWED_THROUGH = 'conversations_through'

/** A step takes about 2 ms of the event loop if each message has a different contact. */
const ROWS_PER_STEP = 250

/** The columns of `messages` that identify a message's conversation. */
const CONVERSATION = `tenant_id, iif(direction = 'outbound', from_number, to_number) AS number,
    iif(direction = 'outbound', to_number, from_number) AS contact`

/** Every conversation with messages in the range, with its newest one. */
const FOLLOW = `INSERT INTO conversation_activity (tenant_id, number, contact, last_seq)
  SELECT ${CONVERSATION}, max(seq)
  FROM messages WHERE seq > ?1 AND seq <= ?2 GROUP BY 1, 2, 3
  ON CONFLICT (tenant_id, contact, number) DO UPDATE SET last_seq = excluded.last_seq WHERE excluded.last_seq > last_seq`

/** The conversations as a statement of the tenant `?1` reads them. */
export interface ConversationsRead {
  /** The table, with `rowid`, `tenant_id`, `number`, `contact` and `last_seq`. */
  table: string
  /** The first part of its `WITH`; '' if the table is in the database. */
  before: string
}

/** Brings the conversations up to date for a statement that reads them. If the disk is full, the statement also reads the newest messages. */
export async function conversationsRead(gateway: Gateway): Promise<ConversationsRead> {
  try {
    await followConversations(gateway)
    return { table: 'conversation_activity', before: '' }
  } catch (error) {
    if (!isStorageFault(error)) throw error
    return { table: 'activity', before: `activity AS MATERIALIZED (${CURRENT_ACTIVITY}),` }
  }
}

/** Whether a column ends with the digits of a parameter, in SQL. */
export const endsWith = (column: string, digits: string): string => `substr(${column}, -length(${digits})) = ${digits}`

/**
 * A query of the tenant `?1` for what `conversation_activity` would have if it were up to date, with its `rowid`. The unary plus keeps SQLite
 * from reading all messages of the tenant.
 */
const CURRENT_ACTIVITY = `SELECT max(last_seq) AS rowid, max(last_seq) AS last_seq, tenant_id, number, contact FROM (
    SELECT tenant_id, number, contact, last_seq FROM conversation_activity WHERE tenant_id = ?1
    UNION ALL SELECT ${CONVERSATION}, seq FROM messages
      WHERE +tenant_id = ?1 AND seq > coalesce((SELECT CAST(value AS INTEGER) FROM facts WHERE name = '${FOLLOWED_THROUGH}'), 0))
  GROUP BY number, contact`

const NOTE = `INSERT INTO facts (name, value) VALUES ('${FOLLOWED_THROUGH}', ?1)
  ON CONFLICT (name) DO UPDATE SET value = excluded.value`

const running = new WeakMap<Database, Promise<void>>()

/** Brings the conversations up to date with the messages. The first run reads every message, later ones only new messages. */
export function followConversations(gateway: Gateway): Promise<void> {
  const { database } = gateway
  const run = running.get(database) ?? follow(gateway).finally(() => running.delete(database))
  running.set(database, run)
  return run
}

/** Brings the conversations up to date if they were ever listed, so that the next list request is fast. */
export async function keepFollowing(gateway: Gateway): Promise<void> {
  if ((await readRange(gateway)).from !== null) await followConversations(gateway)
}

async function follow(gateway: Gateway): Promise<void> {
  const range = await readRange(gateway)
  for (let from = range.from ?? 0; from < range.to && !gateway.lifecycle.draining; from += ROWS_PER_STEP) {
    const to = Math.min(from + ROWS_PER_STEP, range.to)
    await gateway.database.writer.write([
      { sql: FOLLOW, args: [from, to] },
      { sql: NOTE, args: [String(to)] },
    ])
    // Sends and requests run between steps.
    await nextTick()
  }
}

/** `from` is null if the conversations were never listed. */
async function readRange({ database }: Gateway): Promise<{ from: number | null; to: number }> {
  const { rows } = await database.gate.execute(
    `SELECT (SELECT value FROM facts WHERE name = '${FOLLOWED_THROUGH}') AS known, (SELECT max(seq) FROM messages) AS newest`,
  )
  const known = rows[0]?.['known'] ?? null
  return { from: known === null ? null : Number(known), to: Number(rows[0]?.['newest'] ?? 0) }
}
