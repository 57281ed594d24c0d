import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { errorName } from '../../core/log.ts'
import { withoutSecrets } from '../../core/network-config.ts'
import { bucketOf } from './bucket.ts'
import { runLitestream } from './program.ts'
import type { BackupSettings } from './settings.ts'

/**
 * Whether the backup's location contains anything, although Litestream found no backup there. Litestream lists only its own kind of files, so
 * this reads the folder, or the bucket if there are keys.
 */
export async function holdsAnything(settings: BackupSettings): Promise<boolean> {
  const { replicaUrl } = settings
  if (replicaUrl.startsWith('file:') && folderHoldsFiles(replicaUrl)) return true
  if (replicaUrl.startsWith('s3:') && (await bucketHoldsObjects(settings))) return true
  return litestreamHasFiles(settings)
}

const ANSWER_LIMIT_MS = 3000

/**
 * Why the storage does not answer a plain request; null if it answers or is Amazon's. Litestream repeats a request for minutes
 * before it reports why it fails.
 */
export async function probeEndpoint({ endpoint }: BackupSettings): Promise<string | null> {
  if (endpoint === '') return null
  return fetch(endpoint, { signal: AbortSignal.timeout(ANSWER_LIMIT_MS) }).then(
    () => null,
    (error: unknown) => `${withoutSecrets(endpoint)} cannot be reached (${errorName(error)})`,
  )
}

/** No such folder, or an address that is not a path on this machine. */
const NO_FOLDER = ['ENOENT', 'ERR_INVALID_FILE_URL_HOST', 'ERR_INVALID_FILE_URL_PATH']

function folderHoldsFiles(url: string): boolean {
  try {
    const entries = readdirSync(fileURLToPath(url), { recursive: true, withFileTypes: true })
    return entries.some((entry) => !entry.isDirectory())
  } catch (error) {
    if (error instanceof Error && 'code' in error && NO_FOLDER.includes(String(error.code))) return false
    throw error
  }
}

/** Also false if the list cannot be read: Litestream has read it before, perhaps with other credentials. */
async function bucketHoldsObjects(settings: BackupSettings): Promise<boolean> {
  const { client, prefix } = bucketOf(settings)
  const listed = Promise.withResolvers<boolean>()
  const timer = setTimeout(() => listed.resolve(false), ANSWER_LIMIT_MS)
  client.list({ maxKeys: 1, ...(prefix === '' ? {} : { prefix: `${prefix}/` }) }).then(
    ({ contents }) => listed.resolve((contents?.length ?? 0) > 0),
    () => listed.resolve(false),
  )
  return listed.promise.finally(() => clearTimeout(timer))
}

async function litestreamHasFiles(settings: BackupSettings): Promise<boolean> {
  const words = ['ltx', '-level', 'all', '-json', settings.databasePath]
  return (await runLitestream(settings, words, settings)).stdout.includes('"min_txid"')
}
