import { statSync } from 'node:fs'
import { Gauge, type Registry } from 'prom-client'
import { readBackupLag } from '../backup/lag.ts'
import { NOT_RECEIVING } from '../db/not-receiving.ts'
import { JOB_KINDS } from '../db/schema/jobs.ts'
import { COUNT_OPEN_ATTEMPTS } from '../db/open-attempts.ts'
import type { Gateway } from '../gateway.ts'
import { probeStorage } from '../db/storage-check.ts'

const EXTENSION_STATES = ['active', 'refresh_failed', 'revoked'] as const
/** A queue is counted up to this number, because an exact count of a million jobs would block the event loop. */
const MAX_COUNTED = 100_000

/** Creates the gauges that are read at each scrape. Run the returned function before the registry is printed. */
export function createGauges(gateway: Gateway, registry: Registry): () => Promise<void> {
  const gauges = defineGauges(registry)
  return async () => {
    gauges.failing.set((await probeStorage(gateway)) ? 1 : 0)
    gauges.sockets.set(gateway.sockets.count)
    gauges.memory.set(process.memoryUsage.rss())
    const readings = await read(gateway).catch(() => null)
    if (readings === null) return gauges.failing.set(1)
    setReadings(gauges, readings)
    await setFiles(gauges, gateway.config.database.path)
  }
}

type Gauges = ReturnType<typeof defineGauges>

function defineGauges(registry: Registry) {
  const registers = [registry]
  const gauge = (name: string, help: string) => new Gauge({ name, help, registers })
  const labelled = <Label extends string>(name: string, help: string, label: Label) =>
    new Gauge({ name, help, labelNames: [label], registers })
  return {
    queue: labelled('sgw_queue_jobs', `Jobs by kind, counted up to ${MAX_COUNTED}`, 'kind'),
    oldest: gauge('sgw_queue_oldest_age_seconds', 'Age of the oldest message that waits to be sent; 0 when none waits'),
    attempts: gauge('sgw_open_attempts', 'Attempts whose call runs or whose outcome is not known yet'),
    extensions: labelled('sgw_extensions', 'Connected extensions, by state', 'state'),
    notReceiving: gauge(
      'sgw_extensions_not_receiving',
      'Active extensions without a subscription: inbound messages come by back-fill alone, up to 15 minutes late',
    ),
    alerts: gauge('sgw_alerts_firing', 'Alerts that were posted to ALERT_URL and are not over'),
    sockets: gauge('sgw_websockets', 'Open WebSocket connections'),
    size: labelled('sgw_database_bytes', 'Size of the database on disk, by file', 'file'),
    lag: gauge(
      'sgw_backup_lag_seconds',
      'For how long the backup may lack changes, as Litestream reports; NaN when Litestream does not answer',
    ),
    free: gauge('sgw_database_free_bytes', 'Bytes of unused pages in the database'),
    logRows: gauge('sgw_event_log_rows', 'Rows of the event log'),
    failing: gauge('sgw_storage_failing', '1 while commits fail or the disk is full: messages are refused with 503'),
    memory: gauge('process_resident_memory_bytes', 'Resident memory of the process'),
  }
}

function setReadings(gauges: Gauges, readings: Readings): void {
  for (const kind of JOB_KINDS) gauges.queue.set({ kind }, readings.jobs[kind] ?? 0)
  gauges.oldest.set(readings.oldestAgeMs / 1000)
  gauges.attempts.set(readings.openAttempts)
  for (const state of EXTENSION_STATES) gauges.extensions.set({ state }, readings.extensions[state] ?? 0)
  gauges.notReceiving.set(readings.notReceiving)
  gauges.alerts.set(readings.alerts)
  gauges.free.set(readings.freeBytes)
  gauges.logRows.set(readings.logRows)
}

async function setFiles({ lag, size }: Gauges, path: string | null): Promise<void> {
  const { walBytes, keptBytes, lagMs } = await readBackupLag(path)
  lag.set(lagMs === null ? Number.NaN : lagMs / 1000)
  size.set({ file: 'database' }, statSync(path ?? '', { throwIfNoEntry: false })?.size ?? 0)
  size.set({ file: 'wal' }, walBytes)
  size.set({ file: 'litestream' }, keptBytes)
}

interface Readings {
  jobs: Record<string, number>
  /** How long the oldest message waits; 0 when none waits. */
  oldestAgeMs: number
  openAttempts: number
  extensions: Record<string, number>
  notReceiving: number
  alerts: number
  freeBytes: number
  logRows: number
}

const COUNT_JOBS = JOB_KINDS.map(
  (kind) =>
    `SELECT '${kind}' AS name, (SELECT count(*) FROM (SELECT 1 FROM jobs WHERE kind = '${kind}' LIMIT ${MAX_COUNTED})) AS count`,
)

const OLDEST = `SELECT created_at FROM jobs INDEXED BY jobs_sends WHERE kind = 'send' ORDER BY seq LIMIT 1`

async function read(gateway: Gateway): Promise<Readings> {
  const [jobs, oldest, attempts, extensions, free, notReceiving, alerts, log] = await gateway.database.gate.batch([
    COUNT_JOBS.join(' UNION ALL '),
    OLDEST,
    COUNT_OPEN_ATTEMPTS,
    'SELECT status AS name, count(*) AS count FROM extensions GROUP BY status',
    'SELECT freelist_count * page_size AS bytes FROM pragma_freelist_count, pragma_page_size',
    { sql: NOT_RECEIVING, args: [gateway.clock.now()] },
    `SELECT json_array_length(value, '$.firing') AS count FROM facts WHERE name = 'alerts'`,
    // Rows are consecutive.
    'SELECT coalesce((SELECT max(seq) FROM events) - (SELECT min(seq) FROM events) + 1, 0) AS count',
  ])
  const counts = (result: typeof jobs): Record<string, number> =>
    Object.fromEntries((result?.rows ?? []).map((row) => [String(row['name']), Number(row['count'])]))
  // `created_at` of a send job is steady time.
  const now = gateway.clock.steady()
  return {
    jobs: counts(jobs),
    oldestAgeMs: Math.max(0, now - Number(oldest?.rows[0]?.['created_at'] ?? now)),
    openAttempts: Number(attempts?.rows[0]?.['count'] ?? 0),
    extensions: counts(extensions),
    notReceiving: notReceiving?.rows.length ?? 0,
    alerts: Number(alerts?.rows[0]?.['count'] ?? 0),
    freeBytes: Number(free?.rows[0]?.['bytes'] ?? 0),
    logRows: Number(log?.rows[0]?.['count'] ?? 0),
  }
}
