import type { Gate } from './gate.ts'
import type { LogFile } from './log-file.ts'
import { LOG_CUT, type Storage } from './storage.ts'

/**
 * The gate of the writer: acknowledges no commit that the next start would not find, because a file was deleted or replaced, or
 * the log was cut. `checkpointPages`: the size of the log after which a commit makes a checkpoint.
 */
export const checkedGate = (gate: Gate, storage: Storage, log: LogFile | null, checkpointPages: number): Gate => ({
  ...gate,
  batch: async (statements) => {
    storage.refuseIfLost()
    if (log === null || !log.isSuspect()) return committed(log, await gate.batch(statements))
    // A checkpoint would copy the hole of a log that was cut into the database.
    await gate.execute('PRAGMA wal_autocheckpoint = 0')
    const results = committed(log, await gate.batch(statements))
    if (log.isCut()) storage.refuse(LOG_CUT)
    await gate.execute(`PRAGMA wal_autocheckpoint = ${checkpointPages}`)
    return results
  },
})

/** Notes how long the log is after a commit. */
function committed<Results>(log: LogFile | null, results: Results): Results {
  log?.isSuspect()
  return results
}
