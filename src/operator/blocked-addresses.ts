import { isoTime } from '../core/clock.ts'
import type { Gateway } from '../messages/gateway.ts'

const MAX_NAMED = 5

/** The addresses that stay blocked for longest, and their number. */
const BLOCKED = `SELECT address, until, count(*) OVER () AS blocked FROM blocked_addresses
  WHERE until > ?1 ORDER BY until DESC LIMIT ${MAX_NAMED}`

/** A sentence for the operator about addresses blocked after failed attempts, and what to do; null if none is. */
export async function describeBlocked({ database, clock }: Gateway): Promise<string | null> {
  const { rows } = await database.gate.execute({ sql: BLOCKED, args: [clock.now()] })
  const [first] = rows
  if (first === undefined) return null
  const named = rows.map((row) => `${String(row['address'])} until ${isoTime(Number(row['until']))}`).join(', ')
  const others = Number(first['blocked']) - rows.length
  const address = rows.length === 1 ? String(first['address']) : 'ADDRESS'
  return `blocked, even for valid keys, because ten wrong keys came from there: ${named}${others > 0 ? ` and ${others} more` : ''}. Correct the client, then sgw unblock ${address}`
}
