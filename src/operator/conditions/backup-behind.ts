import { type Backup, readBackup } from '../backup/read-backup.ts'
import type { Condition, ConditionSource } from './condition.ts'

/** Litestream begins to answer some seconds after its start. */
const SILENT_HOLD_MS = 2 * 60_000

/** The backup lacks changes, or Litestream does not say whether it does. */
export const backupBehind: ConditionSource = {
  alert: 'backup_behind',
  check: 'backup',
  find: async (gateway) => {
    const backup = await readBackup(gateway)
    if (backup.state === 'off' || backup.state === 'current') return []
    const name = `backup of ${gateway.config.database.path ?? 'the database'}`
    const lagSeconds = backup.lagMs === null ? null : Math.round(backup.lagMs / 1000)
    return [
      {
        ...saidOf(backup, name, lagSeconds),
        overText: `Resolved: the ${name} is up to date again.`,
        detail: { lagSeconds },
      },
    ]
  },
}

function saidOf({ begun }: Backup, name: string, lagSeconds: number | null): Omit<Condition, 'overText' | 'detail'> {
  if (!begun)
    return {
      what: `Litestream has not started the ${name}`,
      fix: 'Start the gateway with the entry point.',
      holdMs: SILENT_HOLD_MS,
    }
  if (lagSeconds === null)
    return {
      what: `Litestream does not report how far the ${name} is behind`,
      fix: 'It may be waiting for the storage, be older than 0.5, or have no "socket" in litestream.yml: see its log.',
      level: 'warn',
      holdMs: SILENT_HOLD_MS,
    }
  return {
    what: `The ${name} has been behind for ${lagSeconds} s`,
    fix: 'Litestream cannot copy to the storage: see its log, check the credentials and the network, and keep the volume until the backup has caught up.',
  }
}
