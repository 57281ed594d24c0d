import { statSync } from 'node:fs'
import { Gauge, type Registry } from 'prom-client'
import type { Lease } from '../../core/lease.ts'
import { EXTENSION_STATUSES } from '../../db/schema/connections.ts'
import { JOB_KINDS } from '../../db/schema/jobs.ts'
import { probeStorage } from '../../db/storage-check.ts'
import type { Gateway } from '../../messages/gateway.ts'
import { muteOf } from '../alerts/mutes.ts'
import { readBackup } from '../backup/read-backup.ts'
import { readDatabase } from '../../messages/gateway-state/database.ts'
import { countExtensions, readTroubledExtensions } from '../../messages/gateway-state/extensions.ts'
import { readOldestMessage, readQueue } from '../../messages/gateway-state/queue.ts'

/** Creates the gauges that are read at each scrape. Call the returned function before printing the registry. */
export function createGauges(gateway: Gateway, registry: Registry): () => Promise<void> {
  const gauges = defineGauges(registry)
  return async () => {
    gauges.failing.set((await probeStorage(gateway)) ? 1 : 0)
    gauges.sockets.set(gateway.sockets.count)
    gauges.memory.set(process.memoryUsage.rss())
    await gateway.alerts.check().catch(() => undefined)
    const { firing, mutes } = gateway.alerts
    gauges.alerts.set(firing.length)
    gauges.muted.set(firing.filter((one) => muteOf(mutes, one.alert, one) !== undefined).length)
    if (gateway.lease !== null) setLease(gauges, gateway.lease)
    await setReadings(gauges, gateway).catch(() => gauges.failing.set(1))
    await setFiles(gauges, gateway)
  }
}

type Gauges = ReturnType<typeof defineGauges>

function defineGauges(registry: Registry) {
  const registers = [registry]
  const gauge = (name: string, help: string) => new Gauge({ name, help, registers })
  const labelled = <Label extends string>(name: string, help: string, label: Label) =>
    new Gauge({ name, help, labelNames: [label], registers })
  return {
    queue: labelled('sgw_queue_jobs', 'Jobs by kind', 'kind'),
    oldest: gauge(
      'sgw_queue_oldest_age_seconds',
      'Age of the oldest message of an active tenant that waits to be sent; 0 if none waits',
    ),
    attempts: gauge('sgw_open_attempts', 'Attempts whose call is in progress or whose outcome is not known yet'),
    extensions: labelled('sgw_extensions', 'Connected extensions, by state', 'state'),
    notReceiving: gauge(
      'sgw_extensions_not_receiving',
      'Active extensions without a subscription: inbound messages come by back-fill alone, up to a minute late',
    ),
    alerts: gauge('sgw_alerts_firing', 'Firing alerts, including muted ones'),
    muted: gauge('sgw_alerts_muted', 'Firing alerts that are muted'),
    sockets: gauge('sgw_websockets', 'Open WebSocket connections'),
    size: labelled('sgw_database_bytes', 'Size of the database on disk, by file', 'file'),
    lag: gauge(
      'sgw_backup_lag_seconds',
      'For how long the backup may lack changes, as Litestream reports; NaN when Litestream does not answer',
    ),
    free: gauge('sgw_database_free_bytes', 'Bytes of unused pages in the database'),
    logRows: gauge('sgw_event_log_rows', 'Rows of the event log'),
    leaseEpoch: gauge('sgw_lease_epoch', 'Epoch of the lease that this gateway holds; 0 without STANDBY'),
    leaseAge: gauge('sgw_lease_age_seconds', 'Seconds since the lease was renewed; renewed each second'),
    standbys: gauge('sgw_standbys', 'Gateways that would take over; NaN until the storage has been read'),
    failing: gauge('sgw_storage_failing', '1 while commits fail or the disk is full: messages are refused with 503'),
    memory: gauge('process_resident_memory_bytes', 'Resident memory of the process'),
  }
}

async function setReadings(gauges: Gauges, gateway: Gateway): Promise<void> {
  const { jobs, openAttempts } = await readQueue(gateway)
  for (const kind of JOB_KINDS) gauges.queue.set({ kind }, jobs[kind])
  gauges.attempts.set(openAttempts)
  gauges.oldest.set(((await readOldestMessage(gateway))?.waitingMs ?? 0) / 1000)
  const { extensions } = await countExtensions(gateway)
  for (const state of EXTENSION_STATUSES) gauges.extensions.set({ state }, extensions[state])
  const troubled = await readTroubledExtensions(gateway)
  gauges.notReceiving.set(troubled.filter(({ trouble }) => trouble === 'not_receiving').length)
  const { freeBytes, eventLogRows } = await readDatabase(gateway)
  gauges.free.set(freeBytes)
  gauges.logRows.set(eventLogRows)
}

function setLease({ leaseEpoch, leaseAge, standbys }: Gauges, lease: Lease): void {
  leaseEpoch.set(lease.epoch)
  leaseAge.set(lease.ageMs() / 1000)
  standbys.set(lease.standbys?.names.length ?? Number.NaN)
}

async function setFiles({ lag, size }: Gauges, gateway: Gateway): Promise<void> {
  const { walBytes, keptBytes, lagMs } = await readBackup(gateway)
  lag.set(lagMs === null ? Number.NaN : lagMs / 1000)
  const { path } = gateway.config.database
  size.set({ file: 'database' }, statSync(path ?? '', { throwIfNoEntry: false })?.size ?? 0)
  size.set({ file: 'wal' }, walBytes)
  size.set({ file: 'litestream' }, keptBytes)
}
