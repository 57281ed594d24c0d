import type { Gate } from './gate.ts'
import type { LogFile } from './log-file.ts'
import { LOG_CUT, type Storage } from './storage.ts'

interface Checks {
  log: LogFile | null
  /** Looks at the content of the database file if somebody has written into it; `own`: the commit before it may have. */
  checkContent(by: 'own' | 'other'): Promise<void>
  /** The size of the log after which a commit makes a checkpoint. */
  checkpointPages: number
}

/**
 * The gate of the writer: acknowledges no commit that the next start would not find, because a file was deleted, replaced or
 * overwritten, or the log was cut. It is checked before each commit, whose checkpoint could hide what `cp` has done, and after it, because a
 * copy from before a checkpoint differs only from what was seen after it.
 */
export const checkedGate = (gate: Gate, storage: Storage, checks: Checks): Gate => ({
  ...gate,
  batch: async (statements) => {
    await checks.checkContent('other')
    storage.refuseIfLost()
    const results = await commit(gate, storage, checks, statements)
    await checks.checkContent('own')
    if (storage.isSpoilt) storage.refuseIfLost()
    return results
  },
})

async function commit(
  gate: Gate,
  storage: Storage,
  { log, checkpointPages }: Checks,
  statements: Parameters<Gate['batch']>[0],
): ReturnType<Gate['batch']> {
  if (log === null) return gate.batch(statements)
  const isSuspect = log.isSuspect()
  // A checkpoint would copy the hole of a log that was cut into the database.
  if (isSuspect) await gate.execute('PRAGMA wal_autocheckpoint = 0')
  const results = await gate.batch(statements)
  if (log.isCut()) storage.refuse(LOG_CUT)
  if (isSuspect) await gate.execute(`PRAGMA wal_autocheckpoint = ${checkpointPages}`)
  return results
}
