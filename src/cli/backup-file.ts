import { Database } from 'bun:sqlite'
import { closeSync, existsSync, openSync, renameSync, rmSync, statfsSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { encryptionKeyPath, sizeOf } from '../db/data-folder.ts'
import { MISSING_DATABASE, askServer, resultOf } from './ask.ts'
import { BUSY_TIMEOUT_MS, flush } from '../operator/backup/database-copy.ts'
import { databasePath } from './backup.ts'
import { type CliContext, CliError } from './context.ts'
import { print } from './print.ts'
import { beginBackup, unfinishedName } from './unfinished-backups.ts'

/** A copy of this size takes about a second; larger ones print a notice. */
const SLOW_MEGABYTES = 100

/**
 * Copies the database into a new file and checks the copy, with or without a running server. The copy is read in one
 * transaction, which does not delay the server. If the file was deleted or replaced under a running server, the server makes
 * the copy. Errors: the file exists, the disk is full, the database is damaged.
 */
export async function backUp(context: CliContext, file: string): Promise<void> {
  const target = resolve(file)
  if (existsSync(target)) throw new CliError(`${target} exists: name a new file`)
  if (!existsSync(dirname(target))) throw new CliError(`There is no folder ${dirname(target)}: create it first`)
  using _folder = beginBackup(target)
  const part = unfinishedName(target)
  try {
    if (!(await isRescued(context, part))) copyFrom(context, databaseOf(context), part)
    const integrity = check(part)
    if (integrity !== 'ok')
      throw new CliError(`The copy is damaged (${integrity}), and so is the database: see docs/runbooks.md`)
    publish(part, target)
    print(context, { file: target, bytes: sizeOf(target), integrity })
    if (!context.json) context.stderr(`${keyAdvice(context)}\n`)
  } finally {
    for (const suffix of ['', '-journal']) rmSync(`${part}${suffix}`, { force: true })
  }
}

/** People notice that a copy lacks its key only when they need the copy. */
function keyAdvice({ config, environment }: CliContext): string {
  const named = environment['ENCRYPTION_KEYS_FILE'] ?? ''
  const configured = named === '' ? 'ENCRYPTION_KEYS' : resolve(named)
  const key = config.encryptionKeys === null ? encryptionKeyPath(config) : configured
  return `The copy does not contain the encryption key: also keep ${key}, in another place. Without it, the secrets in the copy are lost (docs/backup.md)`
}

/** Whether the server made the copy, because only it can read the file. An older server does not know the command. */
async function isRescued(context: CliContext, part: string): Promise<boolean> {
  const request = { method: 'POST', path: '/v1/operator/rescue', body: { file: part } } as const
  const answer = await askServer(context, request)
  if (answer === null || answer.status === 404) return false
  return ((await resultOf(answer)) as { copied: boolean }).copied
}

function copyFrom(context: CliContext, source: string, part: string): void {
  const megabytes = requireSpace(source, part)
  if (context.terminal && megabytes > SLOW_MEGABYTES) context.stderr(`Copying and checking up to ${megabytes} MB …\n`)
  copy(source, part)
}

function databaseOf(context: CliContext): string {
  const path = databasePath(context)
  if (sizeOf(path) === 0) throw new CliError(`There is no database at ${path}: nothing was done. ${MISSING_DATABASE}`)
  return path
}

/** Refuses a folder that is too full. Returns the largest possible size of the copy in megabytes. */
function requireSpace(source: string, target: string): number {
  const folder = dirname(target)
  const neededBytes = sizeOf(source) + sizeOf(`${source}-wal`)
  const { bavail, bsize } = statfsSync(folder)
  const megabytes = Math.ceil(neededBytes / 1e6)
  if (bavail * bsize < neededBytes)
    throw new CliError(`The copy needs up to ${megabytes} MB in ${folder}: free some space`)
  return megabytes
}

function copy(source: string, part: string): void {
  try {
    using database = new Database(source, { readwrite: true, create: false })
    database.run(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`)
    // Litestream must be the only process that checkpoints.
    database.run('PRAGMA wal_autocheckpoint = 0')
    database.run('VACUUM INTO ?', [part])
  } catch (error) {
    throw new CliError(`${source} cannot be copied (${reasonOf(error)}): see docs/runbooks.md if it is damaged`)
  }
}

function check(part: string): string {
  try {
    using database = new Database(part, { readonly: true })
    return (
      database.query<{ integrity_check: string }, []>('PRAGMA integrity_check(1)').get()?.integrity_check ?? 'no answer'
    )
  } catch (error) {
    return reasonOf(error)
  }
}

function publish(part: string, target: string): void {
  flush(part)
  try {
    // `wx` fails if the file was created in the meantime; a rename alone would overwrite it.
    closeSync(openSync(target, 'wx'))
    renameSync(part, target)
  } catch (error) {
    throw new CliError(`${target} cannot be created (${reasonOf(error)})`)
  }
  flush(dirname(target))
}

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : 'unknown error')
