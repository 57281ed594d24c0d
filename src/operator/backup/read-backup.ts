import { readdirSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { controlSocketPath } from './settings.ts'
import type { Gateway } from '../../messages/gateway.ts'

export interface Backup {
  /** `off`: Litestream does not run. `silent`: it does not report how far the backup is behind. `behind`: the backup lacks old changes. */
  state: 'off' | 'silent' | 'behind' | 'current'
  /** Size of the write-ahead log, which only Litestream empties while it runs. */
  walBytes: number
  /** Size of Litestream's files beside the database. They grow if Litestream cannot upload. */
  keptBytes: number
  /** Whether Litestream has ever copied this database. */
  begun: boolean
  /** For how long the backup may lack changes, as Litestream reports; null if it does not answer. */
  lagMs: number | null
}

type Lag = Omit<Backup, 'state'>

const NONE: Lag = { walBytes: 0, keptBytes: 0, begun: false, lagMs: null }
const TIMEOUT_MS = 1000
/** A backup that lacks changes for longer needs attention. */
const MAX_LAG_MS = 60_000

/** Reads how far the backup is behind. Only a drill shows whether the storage still has everything that was copied. */
export async function readBackup({ config }: Pick<Gateway, 'config'>): Promise<Backup> {
  const lag = await readLag(config.database.path)
  const state = lag.lagMs === null ? 'silent' : lag.lagMs > MAX_LAG_MS ? 'behind' : 'current'
  return { ...lag, state: config.litestream ? state : 'off' }
}

async function readLag(path: string | null): Promise<Lag> {
  if (path === null) return NONE
  const wal = statSync(`${path}-wal`, { throwIfNoEntry: false })
  const { bytes: keptBytes, newest } = contentOf(join(dirname(path), `.${basename(path)}-litestream`))
  const walBytes = wal?.size ?? 0
  if (newest === null) return { ...NONE, walBytes, keptBytes }
  const uploadedAt = await lastUploadedAt(controlSocketPath(path))
  if (uploadedAt === null) return { walBytes, keptBytes, begun: true, lagMs: null }
  // Litestream copies the log into its own files, then uploads them. Either step can fail on its own.
  const unreadMs = wal === undefined ? 0 : wal.mtimeMs - newest
  return { walBytes, keptBytes, begun: true, lagMs: Math.max(0, Math.round(unreadMs), Date.now() - uploadedAt) }
}

/**
 * When Litestream last had uploaded everything, epoch milliseconds; it updates this about once a second, even without changes. Before that, the
 * time when it started. Null if it does not answer. Source: server.go of Litestream 0.5.18.
 */
async function lastUploadedAt(socket: string): Promise<number | null> {
  const ask = async (path: string): Promise<unknown> => {
    const response = await fetch(`http://litestream/${path}`, { unix: socket, signal: AbortSignal.timeout(TIMEOUT_MS) })
    return response.json()
  }
  try {
    const { databases } = (await ask('list')) as { databases: { last_sync_at?: string }[] }
    const last = databases[0]?.last_sync_at ?? ((await ask('info')) as { started_at: string }).started_at
    const at = Date.parse(last)
    return Number.isNaN(at) ? null : at
  } catch {
    return null
  }
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
