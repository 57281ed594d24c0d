import { Database } from 'bun:sqlite'
import { renameSync, rmSync, writeFileSync } from 'node:fs'
import { openGate } from '../../src/db/gate.ts'
import { migrate } from '../../src/db/migrate.ts'
import { MIGRATIONS } from '../../src/db/migrations.ts'
import { messageIdOf } from '../support/delivery-rows.ts'

/** Release 1.0.0 ends with migration 0004. */
export const RELEASE_1 = MIGRATIONS.slice(0, 5)

/** Tables that have not changed since. */
const KEPT = ['tenants', 'apps', 'triggers', 'extensions', 'phone_numbers', 'subscriptions', 'facts']

/**
 * Replaces a current database with one of release 1.0.0. It has the same tenants, apps and extensions, and no messages.
 * `fill` writes the rows of 1.0.0.
 */
export async function asRelease1(path: string, fill: (database: Database) => void): Promise<void> {
  const old = `${path}.old`
  const gate = await openGate({ url: `file:${old}`, pragmas: ['journal_mode = WAL'] })
  await migrate(gate, RELEASE_1)
  await gate.close()
  const database = new Database(old)
  database.run('ATTACH ? AS today', [path])
  for (const table of KEPT) copyTable(database, table)
  database.run('DETACH today')
  fill(database)
  database.run('PRAGMA wal_checkpoint(TRUNCATE)')
  database.close()
  for (const suffix of ['', '-wal', '-shm']) rmSync(`${path}${suffix}`, { force: true })
  for (const suffix of ['-wal', '-shm']) rmSync(`${old}${suffix}`, { force: true })
  renameSync(old, path)
}

/** Copies the columns that release 1.0.0 had. */
function copyTable(database: Database, table: string): void {
  const columns = database.query<{ name: string }, []>(`SELECT name FROM pragma_table_info('${table}', 'main')`).all()
  const names = columns.map(({ name }) => name).join(', ')
  database.run(`INSERT OR REPLACE INTO ${table} (${names}) SELECT ${names} FROM today.${table}`)
}

export interface OldMessage {
  /** The id of the message and of its job derive from this number. */
  number: number
  from: string
  to: string
  body: string
  status: 'queued' | 'sending' | 'sent' | 'failed' | 'received'
  error?: string
  rcMessageId?: string
  /** A first attempt, which 1.0.0 stored in the row of the message. */
  firstAttempt?: { extensionId: string; at: number }
  at: number
  tenantId: string
  appId: string
}

export const jobIdOf = (number: number): string => `job_${number.toString(16).padStart(16, '0')}`

type Values = Record<string, string | number | null>

function insert(database: Database, table: string, row: Values): void {
  const columns = Object.keys(row)
  const values = columns.map(() => '?').join(', ')
  database.run(`INSERT INTO ${table} (${columns.join(', ')}) VALUES (${values})`, Object.values(row))
}

export function insertMessage(database: Database, message: OldMessage): void {
  const { number, status, firstAttempt, at } = message
  insert(database, 'messages', {
    id: messageIdOf(number),
    job_id: jobIdOf(number),
    tenant_id: message.tenantId,
    app_id: message.appId,
    direction: 'outbound',
    from_number: message.from,
    to_number: message.to,
    body: message.body,
    status,
    rc_message_id: message.rcMessageId ?? null,
    error: message.error ?? null,
    attempt_id: status === 'queued' ? null : `att_${number}`,
    first_attempt_extension_id: firstAttempt?.extensionId ?? null,
    first_attempt_at: firstAttempt?.at ?? null,
    created_at: at,
    updated_at: at,
  })
}

export interface OldAttempt {
  outcome?: 'accepted' | 'rejected' | 'not_accepted' | 'absent' | 'unconfirmed'
  settleAt?: number
  httpStatus?: number
}

/** Inserts an attempt with a row of its own. It is open unless it has an outcome. */
export function insertAttempt(
  database: Database,
  { number, from, to, body, tenantId, at }: OldMessage,
  extensionId: string,
  { outcome, settleAt, httpStatus }: OldAttempt = {},
): void {
  insert(database, 'send_attempts', {
    id: `att_${number}`,
    message_id: messageIdOf(number),
    tenant_id: tenantId,
    extension_id: extensionId,
    from_number: from,
    to_number: to,
    text_hash: body,
    number: 1,
    boot_id: 'boot_old',
    started_at: at,
    ended_at: outcome === undefined ? null : at + 100,
    outcome: outcome ?? null,
    settle_at: settleAt ?? null,
    http_status: httpStatus ?? null,
  })
}

export interface OldJob {
  number: number
  kind: 'send' | 'settle' | 'fence' | 'webhook' | 'back_fill'
  lane: string
  tenantId: string
  subject?: string
  at: number
}

/** Inserts a job of any kind of 1.0.0. The default subject is the message with this number. */
export function insertJob(database: Database, { number, kind, lane, tenantId, at, subject }: OldJob): void {
  insert(database, 'jobs', {
    id: jobIdOf(number),
    kind,
    lane,
    tenant_id: tenantId,
    subject: subject ?? messageIdOf(number),
    run_at: at,
    created_at: at,
  })
}

/** Writes the mark file of 1.0.0: the numbers of all attempts, deliveries, and attempts that began with their message. */
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
