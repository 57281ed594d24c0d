import { Database } from 'bun:sqlite'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { resolve } from 'node:path'
import { Settings } from '../core/settings.ts'
import { EXIT } from '../core/start-error.ts'
import { type CliContext, CliError } from './context.ts'

const BUSY_TIMEOUT_MS = 5000

/** The database file and, for Litestream, its whole path. Errors: a database that is no file has no backup of ours. */
export function databasePath(context: CliContext): string {
  const { path } = context.config.database
  if (path === null) throw new CliError('DATABASE_URL names a server: its backup is not ours', EXIT.usage)
  return resolve(path)
}

/** Brings the newest state of the backup to `target`; false when there is no backup. Errors: whatever Litestream says. */
export async function fetchBackup(context: CliContext, target: string): Promise<boolean> {
  const { environment } = context
  const replica = environment['LITESTREAM_REPLICA_URL'] ?? ''
  if (replica === '')
    throw new CliError(
      'LITESTREAM_REPLICA_URL is not set: name the place of the backup, for example s3://BUCKET/PATH',
      EXIT.badConfig,
    )
  const database = databasePath(context)
  removeDatabase(target)
  const config = environment['LITESTREAM_CONFIG'] ?? '/etc/litestream.yml'
  const program = environment['LITESTREAM_COMMAND'] ?? 'litestream'
  const command = [program, 'restore', '-config', config, '-if-replica-exists', '-o', target, database]
  const { code, said } = await run(command, {
    ...environment,
    ...secretsInFiles(environment),
    LITESTREAM_DATABASE: database,
  })
  if (code !== 0) throw new CliError(`The backup at ${replica} cannot be read: ${said}`, EXIT.unavailable)
  return existsSync(target)
}

const SECRETS = ['LITESTREAM_ACCESS_KEY_ID', 'LITESTREAM_SECRET_ACCESS_KEY'] as const

/** Litestream itself knows no `NAME_FILE`; the entry point does the same for its own run. */
function secretsInFiles(values: CliContext['environment']): Record<string, string> {
  const settings = new Settings({ values, readFile: (path) => readFileSync(path, 'utf8') })
  const inFiles = SECRETS.filter((name) => settings.text(`${name}_FILE`) !== null)
  const secrets = Object.fromEntries(inFiles.map((name) => [name, settings.secret(name) ?? '']))
  if (settings.problems.length > 0) throw new CliError(settings.problems.join('\n'), EXIT.badConfig)
  return secrets
}

async function run(command: string[], env: CliContext['environment']): Promise<{ code: number; said: string }> {
  try {
    const child = Bun.spawn(command, { env, stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' })
    const [stdout, stderr, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited])
    return { code, said: reasonIn(`${stdout}\n${stderr}`) }
  } catch {
    throw new CliError(
      `${command[0] ?? ''} cannot be run: install Litestream, or set LITESTREAM_COMMAND to its path`,
      EXIT.unavailable,
    )
  }
}

/** Litestream's last line; of a structured one (`time=… level=ERROR msg="failed to run" error="…"`) the error alone. */
function reasonIn(output: string): string {
  const line = output.trim().split('\n').at(-1) ?? ''
  const error = / error=("(?:[^"\\]|\\.)*"|\S+)$/.exec(line)?.[1]
  return error === undefined ? line : unquoted(error).replaceAll(/\s+/g, ' ').trim()
}

/** Go quotes what has spaces, almost as JSON does. */
function unquoted(text: string): string {
  try {
    return String(JSON.parse(text))
  } catch {
    return text
  }
}

/** Up to where a database has messages; 0 without any. */
export interface Newest {
  seq: number
  /** Epoch milliseconds. */
  at: number
}

export interface Inspected {
  /** Messages in it. */
  rows: number
  newest: Newest
  /** `ok`, or what SQLite finds wrong. */
  integrity: string
}

export const NOTHING: Newest = { seq: 0, at: 0 }
const MESSAGES = `SELECT count(*) AS rows, coalesce(max(seq), 0) AS seq,
  coalesce(max(created_at) FILTER (WHERE direction = 'outbound'), 0) AS at FROM messages`

/** Looks through a whole database file. */
export function inspect(path: string): Inspected {
  const database = new Database(path, { readwrite: true, create: false })
  try {
    const integrity =
      database.query<{ quick_check: string }, []>('PRAGMA quick_check(1)').get()?.quick_check ?? 'no answer'
    const { rows, ...newest } = database.query<{ rows: number } & Newest, []>(MESSAGES).get() ?? { rows: 0, ...NOTHING }
    return { rows, newest, integrity }
  } catch (error) {
    return { rows: 0, newest: NOTHING, integrity: error instanceof Error ? error.message : 'unreadable' }
  } finally {
    database.close()
  }
}

/**
 * When the first message that a backup with this newest one does not have was accepted, epoch milliseconds; null when it
 * has all, or the live database cannot be read: then nothing is known against the backup.
 */
export function firstMissing(livePath: string, newest: Newest): number | null {
  try {
    using database = new Database(livePath, { readonly: true })
    database.run(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`)
    // Inbound ones may have been received long before they were fetched. Numbers of deleted rows are used again.
    const messages = `SELECT min(created_at) AS at FROM messages WHERE direction = 'outbound' AND (seq > ? OR created_at > ?)`
    return database.query<{ at: number | null }, [number, number]>(messages).get(newest.seq, newest.at)?.at ?? null
  } catch {
    return null
  }
}

/** A database is up to three files; a restore of Litestream that ended early leaves as many. */
export function removeDatabase(path: string): void {
  for (const suffix of ['', '-wal', '-shm', '.tmp', '.tmp-wal', '.tmp-shm']) rmSync(`${path}${suffix}`, { force: true })
}
