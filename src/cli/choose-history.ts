import { Database } from 'bun:sqlite'
import { existsSync, rmSync } from 'node:fs'
import { isoTime } from '../core/clock.ts'
import { openDataFolder, sizeOf } from '../db/data-folder.ts'
import { linksToGiveUp } from '../db/history.ts'
import { giveUp } from '../db/history-rows.ts'
import { putInPlace } from '../operator/backup/database-copy.ts'
import { untilReplicationEnded } from '../operator/backup/replication.ts'
import type { FetchedCopy, LocalFile } from '../operator/lease/copies.ts'
import { type Found, findNewest } from '../operator/lease/find-newest.ts'
import type { Fork } from '../operator/lease/newest.ts'
import { checkedRows, moveDatabase } from '../operator/lease/take-database.ts'
import { asCliError, databasePath, settingsOf } from './backup.ts'
import type { CliContext } from './context.ts'
import { print } from './print.ts'

export const SIDES = ['local', 'copy'] as const
export type Side = (typeof SIDES)[number]

/** A message that only the abandoned history has. */
interface OnlyThere {
  messageId: string
  from: string
  to: string
  createdAt: string
  status: string
}

/**
 * Continues with one of two histories, and keeps the other beside the database. Prints the messages that only the other one has. Waiting
 * messages are looked up at the provider before they are sent, because the other history may have sent them.
 */
export async function chooseHistory(context: CliContext, side: Side): Promise<void> {
  const path = databasePath(context)
  const settings = settingsOf(context)
  try {
    const lock = await openDataFolder(path, LOCK_WAIT_MS)
    try {
      await untilReplicationEnded(path)
      await findNewest(settings, { scratch: `${path}.restoring-choice` }, (found) => choose(context, side, path, found))
    } finally {
      lock.release()
    }
  } catch (error) {
    throw asCliError(error)
  }
}

const LOCK_WAIT_MS = 30_000

function choose(context: CliContext, side: Side, path: string, { newest, copies, local }: Found): void {
  if (newest.type !== 'fork')
    return print(context, { chosen: null, detail: 'there is nothing to choose: one history continues the other' })
  const { chosen, other } = sidesOf(newest.fork, side, local)
  const messages = onlyIn(other.file, chosen.file)
  giveUp(
    chosen.file,
    [...copies, ...(local === null ? [] : [local])].flatMap((one) =>
      one === chosen ? [] : linksToGiveUp(chosen.history, one.history),
    ),
  )
  const kept = freeName(`${path}.not-chosen`)
  if (isCopy(chosen)) checkedRows(chosen)
  moveDatabase(other.file, kept)
  if (isCopy(chosen) && sizeOf(path) > 0) moveDatabase(path, freeName(kept))
  if (isCopy(chosen)) putInPlace(chosen.file, path, false, (text) => context.stderr(`${text}\n`))
  // Without it the start begins a new incarnation, so cursors of the other history get `gap: true`.
  rmSync(`${path}.mark`, { force: true })
  report(context, side, kept, messages)
}

type Held = LocalFile | FetchedCopy

const isCopy = (side: Held): side is FetchedCopy => 'where' in side

/** If there is no file but two copies, `copy` is the one of an epoch. */
function sidesOf({ one, other }: Fork, side: Side, local: LocalFile | null): { chosen: Held; other: Held } {
  if (side === 'local' && local !== null) return { chosen: local, other: isCopy(one) ? one : other }
  return isCopy(one) ? { chosen: one, other } : { chosen: other, other: one }
}

function onlyIn(file: string, other: string): OnlyThere[] {
  using database = new Database(file, { readonly: true })
  database.run('ATTACH ?1 AS other', [other])
  const rows = database.query<Omit<OnlyThere, 'createdAt'> & { createdAt: number }, []>(ONLY_HERE).all()
  return rows.map((row) => ({ ...row, createdAt: isoTime(row.createdAt) }))
}

const ONLY_HERE = `SELECT id AS messageId, "from", "to", created_at AS createdAt, status FROM main.messages AS mine
  WHERE NOT EXISTS (SELECT 1 FROM other.messages WHERE id = mine.id) ORDER BY seq`

/** A name that no earlier choice has used. */
function freeName(name: string): string {
  let free = name
  for (let number = 2; existsSync(free); number++) free = `${name}-${number}`
  return free
}

function report(context: CliContext, chosen: Side, kept: string, messages: readonly OnlyThere[]): void {
  if (context.json) return print(context, { chosen, kept, messages })
  print(context, { chosen, kept, 'only there': `${messages.length} messages` })
  if (messages.length > 0) print(context, messages)
}
