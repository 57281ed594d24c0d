import { resolve } from 'node:path'
import type { Config } from '../../core/config.ts'
import type { Log } from '../../core/log.ts'
import type { Environment } from '../../core/settings.ts'
import { EXIT } from '../../core/start-error.ts'
import { readBackupSettings } from '../../operator/backup/settings.ts'
import { LeaseObject } from '../../operator/lease/lease-object.ts'
import { ObjectStore } from '../../operator/lease/object-store.ts'
import { refuseSecondWorker, watchForHolder } from '../../operator/lease/one-worker.ts'
import type { Shutdown } from '../shutdown.ts'
import { holderName } from './stand-by.ts'

/**
 * Ensures that a gateway without STANDBY is the only active one at its backup's location. Returns the function that keeps watching; null if no
 * gateways share a lease. Errors: `StartError` 78.
 */
export async function loneStart(
  config: Config,
  environment: Environment,
  log: Log,
  shutdown: Shutdown,
): Promise<(() => void) | null> {
  const { database, backupAddress } = config
  if (database.path === null || backupAddress?.startsWith('s3://') !== true) return null
  const settings = readBackupSettings(environment, resolve(database.path))
  const object = new LeaseObject(new ObjectStore(settings))
  const epoch = await refuseSecondWorker({ settings, object, holder: holderName(config), log })
  if (epoch === null) return null
  const stop = (reason: string): void => {
    log.error({}, reason)
    void shutdown.stop(EXIT.badConfig)
  }
  return () => void watchForHolder({ object }, epoch, stop)
}
