import { Database } from 'bun:sqlite'
import { renameSync, rmSync, writeFileSync } from 'node:fs'
import { openGate } from '../../src/db/gate.ts'
import { migrate } from '../../src/db/migrate.ts'
import { MIGRATIONS } from '../../src/db/migrations.ts'

/** Release 1.0.0 ends with migration 0004. */
export const RELEASE_1 = MIGRATIONS.slice(0, 5)

/** What did not change between the releases. */
const KEPT = ['tenants', 'apps', 'triggers', 'extensions', 'phone_numbers', 'subscriptions', 'facts']

/**
 * Replaces a database of today by one of release 1.0.0 with the same tenants, apps and extensions, and without messages.
 * `fill` writes the rows that 1.0.0 left.
 */
export async function asRelease1(path: string, fill: (database: Database) => void): Promise<void> {
  const old = `${path}.old`
  const gate = await openGate({ url: `file:${old}`, pragmas: ['journal_mode = WAL'] })
  await migrate(gate, RELEASE_1)
  await gate.close()
  const database = new Database(old)
  database.run('ATTACH ? AS today', [path])
  for (const table of KEPT) database.run(`INSERT OR REPLACE INTO ${table} SELECT * FROM today.${table}`)
  database.run('DETACH today')
  fill(database)
  database.run('PRAGMA wal_checkpoint(TRUNCATE)')
  database.close()
  for (const suffix of ['', '-wal', '-shm']) rmSync(`${path}${suffix}`, { force: true })
  for (const suffix of ['-wal', '-shm']) rmSync(`${old}${suffix}`, { force: true })
  renameSync(old, path)
}

export interface OldMessage {
  /** Its place in the order of acceptance; also in its id and job id. */
  number: number
  from: string
  to: string
  body: string
  status: 'queued' | 'sending' | 'sent' | 'failed'
  error?: string
  rcMessageId?: string
  /** A first attempt that stands in the message's own row. */
  firstAttempt?: { extensionId: string; at: number }
  at: number
  tenantId: string
  appId: string
}

export const messageIdOf = (number: number): string => `msg_${number.toString(16).padStart(12, '0')}`
export const jobIdOf = (number: number): string => `job_${number.toString(16).padStart(16, '0')}`

export function insertMessage(database: Database, message: OldMessage): void {
  const { number, from, to, body, status, error = null, rcMessageId = null, firstAttempt, at } = message
  database.run(
    `INSERT INTO messages (id, job_id, tenant_id, app_id, direction, from_number, to_number, body, status, rc_message_id, error, attempt_id,
      first_attempt_extension_id, first_attempt_at, created_at, updated_at) VALUES (?, ?, ?, ?, 'outbound', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    [
      ...[messageIdOf(number), jobIdOf(number), message.tenantId, message.appId, from, to, body, status, rcMessageId],
      ...[error, status === 'queued' ? null : `att_${number}`],
      ...[firstAttempt?.extensionId ?? null, firstAttempt?.at ?? null, at, at],
    ],
  )
}

export interface OldAttempt {
  outcome?: 'accepted' | 'rejected' | 'not_accepted' | 'absent' | 'unconfirmed'
  settleAt?: number
  httpStatus?: number
}

/** An attempt with a row of its own; open unless it has an outcome. */
export function insertAttempt(
  database: Database,
  { number, from, to, body, tenantId, at }: OldMessage,
  extensionId: string,
  { outcome, settleAt, httpStatus }: OldAttempt = {},
): void {
  database.run(
    `INSERT INTO send_attempts (id, message_id, tenant_id, extension_id, from_number, to_number, text_hash, number, boot_id, started_at, ended_at,
      outcome, settle_at, http_status) VALUES (?, ?, ?, ?, ?, ?, ?, 1, 'boot_old', ?, ?, ?, ?, ?)`,
    [
      ...[`att_${number}`, messageIdOf(number), tenantId, extensionId, from, to, body, at],
      ...[outcome === undefined ? null : at + 100, outcome ?? null, settleAt ?? null, httpStatus ?? null],
    ],
  )
}

/** A job of a message, of any kind of 1.0.0. */
export function insertJob(
  database: Database,
  message: OldMessage,
  kind: 'send' | 'settle' | 'fence',
  lane = message.from,
): void {
  const { number, tenantId, at } = message
  database.run(
    'INSERT INTO jobs (id, kind, lane, tenant_id, subject, run_at, created_at) VALUES (?, ?, ?, ?, ?, ?, ?)',
    [jobIdOf(number), kind, lane, tenantId, messageIdOf(number), at, at],
  )
}

/** The mark file as 1.0.0 wrote it: all attempts, deliveries, and the attempts that began with their message. */
export function writeMark(
  path: string,
  incarnation: string,
  mark: { rows: number; deliveries: number; begun: number },
) {
  const numbers = [mark.rows + mark.begun, mark.deliveries, mark.begun].map((number) =>
    String(number).padStart(16, '0'),
  )
  writeFileSync(`${path}.mark`, `${incarnation} ${numbers.join(' ')}\n`)
}
