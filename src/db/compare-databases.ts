import { SqliteConnection } from './connection.ts'
import { batchesOf, hasAllOf } from './replaced-database.ts'

/** Two files of one database: the one on this machine, and a copy of a backup. */
export interface Files {
  local: string
  copy: string
}

export interface Complete {
  /** The one that lacks nothing that was acknowledged. */
  complete: 'local' | 'copy'
  /** Whether the local file is that of a gateway that held the lease. */
  isOfHolder: boolean
}

/**
 * Finds which of the two lacks nothing that was acknowledged; null if each may have something that the other lacks. `copyEpoch`: 0 for the
 * copy of a gateway without standbys. A file of the same epoch or an earlier one has nothing acknowledged that the copy lacks: a holder
 * acknowledges what is stored in its epoch, and each epoch begins with all of the one before.
 */
export async function completeOne({ local, copy }: Files, copyEpoch: number): Promise<Complete | null> {
  const [ours, theirs] = [new SqliteConnection(local, BUSY_TIMEOUT_MS), new SqliteConnection(copy, BUSY_TIMEOUT_MS)]
  try {
    const [[epoch] = []] = ours.values(`SELECT value FROM facts WHERE name = 'epoch'`)
    const isOfHolder = epoch !== undefined
    if (isOfHolder && Number(epoch) <= copyEpoch) return { complete: 'copy', isOfHolder }
    const [here, there] = [batchesOf(ours), batchesOf(theirs)]
    if (await hasAllOf(here, there)) return { complete: 'local', isOfHolder }
    return (await hasAllOf(there, here)) ? { complete: 'copy', isOfHolder } : null
  } finally {
    ours.close()
    theirs.close()
  }
}

const BUSY_TIMEOUT_MS = 1000
