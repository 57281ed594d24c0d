import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { errorName } from '../core/log.ts'
import type { BackupSettings } from './settings.ts'

/**
 * Whether anything at all is under the place of the backup, though Litestream found no backup there. Litestream itself
 * names only files of its own kind, so the place is listed here: a folder always, object storage where keys are given.
 */
export async function holdsAnything(settings: BackupSettings): Promise<boolean> {
  if (settings.replicaUrl.startsWith('file:')) return folderHoldsFiles(settings.replicaUrl)
  return settings.replicaUrl.startsWith('s3:') && bucketHoldsObjects(settings)
}

const PROBE_MS = 3000

/**
 * Why the storage did not answer, as far as one plain request can tell; null when it can be reached, or is Amazon's.
 * Litestream repeats a request for minutes before it says why it fails.
 */
export async function probeEndpoint({ endpoint }: BackupSettings): Promise<string | null> {
  if (endpoint === '') return null
  return fetch(endpoint, { signal: AbortSignal.timeout(PROBE_MS) }).then(
    () => null,
    (error: unknown) => `${endpoint} cannot be reached (${errorName(error)})`,
  )
}

function folderHoldsFiles(url: string): boolean {
  try {
    return readdirSync(fileURLToPath(url), { recursive: true, withFileTypes: true }).some(
      (entry) => !entry.isDirectory(),
    )
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return false
    throw error
  }
}

const optional = <Name extends string>(name: Name, value: string | undefined): { [name in Name]?: string } =>
  value === undefined || value === '' ? {} : ({ [name]: value } as { [name in Name]?: string })

/** False also where the list cannot be read this way: Litestream has read it before, and may know other credentials. */
async function bucketHoldsObjects({ replicaUrl, endpoint, variables }: BackupSettings): Promise<boolean> {
  const { hostname: bucket, pathname } = new URL(replicaUrl)
  const prefix = pathname.replace(/^\/+|\/+$/g, '')
  const client = new Bun.S3Client({
    bucket,
    ...optional('endpoint', endpoint),
    ...optional('region', variables['LITESTREAM_REGION']),
    ...optional('accessKeyId', variables['LITESTREAM_ACCESS_KEY_ID'] ?? variables['AWS_ACCESS_KEY_ID']),
    ...optional('secretAccessKey', variables['LITESTREAM_SECRET_ACCESS_KEY'] ?? variables['AWS_SECRET_ACCESS_KEY']),
  })
  const list = client.list({ maxKeys: 1, ...optional('prefix', prefix === '' ? '' : `${prefix}/`) })
  return list.then(
    ({ contents }) => (contents?.length ?? 0) > 0,
    () => false,
  )
}
