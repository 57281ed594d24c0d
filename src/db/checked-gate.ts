import type { FileStamp } from './file-stamp.ts'
import type { Gate } from './gate.ts'
import type { LogEnd } from './log-end.ts'
import { LOG_CUT, OVERWRITTEN, type Storage } from './storage.ts'

/** The open files of a database. */
export interface Watched {
  stamp: FileStamp
  log: LogEnd
}

/** The code for what somebody has done to the content of the files; null if nothing. */
export const faultOfContent = async ({ stamp, log }: Watched, gate: Gate): Promise<string | null> =>
  (await stamp.isOverwritten(gate)) ? OVERWRITTEN : log.isCut() ? LOG_CUT : null

/**
 * The gate of the writer: acknowledges no commit that the next start would not find because a file was deleted, replaced or overwritten, or the
 * log was truncated. It checks before each commit, because the commit's checkpoint could hide what `cp` did, and again after it. `watched`:
 * null while the database is opened.
 */
export const checkedGate = (gate: Gate, storage: Storage, watched: () => Watched | null): Gate => ({
  ...gate,
  batch: async (statements) => {
    storage.refuseIfLost()
    const files = watched()
    if (files === null) return gate.batch(statements)
    if (isTouched(files)) await refuseIfSpoilt(gate, storage, files)
    const { due } = files.stamp
    const results = await gate.batch(due === null ? statements : [...statements, `PRAGMA user_version = ${due}`])
    if (due !== null) files.stamp.committed(due)
    if (isTouched(files)) await refuseIfSpoilt(gate, storage, files)
    return due === null ? results : results.slice(0, -1)
  },
})

const isTouched = ({ stamp, log }: Watched): boolean => stamp.isWritten || log.isCut()

async function refuseIfSpoilt(gate: Gate, storage: Storage, files: Watched): Promise<void> {
  const code = await faultOfContent(files, gate)
  if (code !== null) storage.refuse(code)
}
