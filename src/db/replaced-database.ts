import { SqliteConnection } from './connection.ts'
import { hasAllOf, readCounters } from './counters.ts'
import type { Gate } from './gate.ts'
import { replacedDatabase, savedCopies } from './lost-database.ts'
import { readNoted } from './mark-file.ts'
import { isContinuation, readProgress } from './restore-mark.ts'

type Batches = Pick<Gate, 'batch'>

/**
 * Why the database at this path must not be used: a gateway that had another one open saved it here, and this one lacks some of it. Null if
 * there is no such copy. `gate`: null for an unreadable database.
 */
export async function refusalOfReplaced(path: string, gate: Batches | null): Promise<string | null> {
  for (const saved of savedCopies(path)) if (await isLastUsed(path, saved, gate)) return replacedDatabase(path, saved)
  return null
}

/** Whether the copy is of the database that the mark is about, and the database in its place lacks part of it. */
async function isLastUsed(path: string, saved: string, gate: Batches | null): Promise<boolean> {
  const copy = new SqliteConnection(saved, 0)
  try {
    const batches = batchesOf(copy)
    const progress = await readProgress(batches)
    const noted = readNoted(`${path}.mark`)
    // An older copy left beside a database that has continued since.
    if (progress === null || (noted !== null && !isContinuation(progress, noted))) return false
    return gate === null || !hasAllOf(await readCounters(gate), await readCounters(batches))
  } catch {
    // Not a database: no gateway saved it.
    return false
  } finally {
    copy.close()
  }
}

const batchesOf = (connection: SqliteConnection): Batches => ({
  batch: (statements) => Promise.resolve(connection.batch(statements)),
})
