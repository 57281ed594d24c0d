import { readdirSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { dataFolder } from '../data-folder.ts'
import type { Gateway } from '../gateway.ts'

export interface BackupLag {
  /** Size of the write-ahead log; only Litestream empties it while it runs. */
  walBytes: number
  /** How much older Litestream's newest note is than the newest change; null when it has none. */
  lagMs: number | null
}

/** How far Litestream is behind, as this machine can see it. Whether the storage has it all, only a drill can tell. */
export function readBackupLag({ config }: Gateway): BackupLag {
  const { path } = config.database
  if (path === null) return { walBytes: 0, lagMs: null }
  const wal = statSync(`${path}-wal`, { throwIfNoEntry: false })
  const noted = newestIn(join(dataFolder(path), `.${basename(path)}-litestream`))
  if (noted === null || wal === undefined) return { walBytes: wal?.size ?? 0, lagMs: null }
  return { walBytes: wal.size, lagMs: Math.max(0, Math.round(wal.mtimeMs - noted)) }
}

/** Time of the newest file in a folder, epoch milliseconds. */
function newestIn(folder: string): number | null {
  try {
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    const times = files.map((file) => statSync(join(folder, file), { throwIfNoEntry: false })?.mtimeMs ?? 0)
    return times.length === 0 ? null : Math.max(...times)
  } catch {
    return null
  }
}
