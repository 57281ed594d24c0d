import { readdirSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'

export interface BackupLag {
  /** Size of the write-ahead log; only Litestream empties it while it runs. */
  walBytes: number
  /** What Litestream has beside the database: little, unless it cannot upload it. */
  keptBytes: number
  /** How much older Litestream's newest note is than the newest change; null when it has none. */
  lagMs: number | null
}

/** How far Litestream is behind, as this machine can see it. Whether the storage has it all, only a drill can tell. */
export function readBackupLag(path: string | null): BackupLag {
  if (path === null) return { walBytes: 0, keptBytes: 0, lagMs: null }
  const wal = statSync(`${path}-wal`, { throwIfNoEntry: false })
  const { bytes: keptBytes, newest } = contentOf(join(dirname(path), `.${basename(path)}-litestream`))
  if (newest === null || wal === undefined) return { walBytes: wal?.size ?? 0, keptBytes, lagMs: null }
  return { walBytes: wal.size, keptBytes, lagMs: Math.max(0, Math.round(wal.mtimeMs - newest)) }
}

/** Size of a folder's files, and the time of the newest, epoch milliseconds. */
function contentOf(folder: string): { bytes: number; newest: number | null } {
  let bytes = 0
  let newest: number | null = null
  for (const name of namesIn(folder)) {
    const file = statSync(join(folder, name), { throwIfNoEntry: false })
    if (file === undefined) continue
    if (file.isFile()) bytes += file.size
    newest = Math.max(newest ?? 0, file.mtimeMs)
  }
  return { bytes, newest }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder, { recursive: true, encoding: 'utf8' })
  } catch {
    return []
  }
}
