import type { Config } from '../../core/config.ts'
import { LOW_DISK_BYTES, freeBytes } from '../../db/storage-check.ts'
import type { Gateway } from '../../messages/gateway.ts'
import type { Condition, ConditionSource } from './condition.ts'

/** Commits fail, or soon will. */
export const storageFailing: ConditionSource = {
  alert: 'storage_failing',
  check: 'database',
  find: async (gateway) => [...(await findStorageFault(gateway)), ...findLowDisk(gateway)],
}

/** Why nothing can be stored; empty while commits succeed. */
export async function findStorageFault({ config, database: { storage } }: Gateway): Promise<Condition[]> {
  await storage?.probeIfFailing()
  const fault = storage?.fault ?? null
  if (fault === null) return []
  const { path } = config.database
  const name = `The database ${path ?? ''}`.trimEnd()
  return [
    {
      what: `${name} cannot be written: ${fault.what}`,
      fix: `${fault.fix.charAt(0).toUpperCase()}${fault.fix.slice(1)}.`,
      overText: `Resolved: ${name} can be written again.`,
      detail: { database: path },
    },
  ]
}

/** Needs no gateway, only its configuration. */
export function findLowDisk({ config }: { config: Pick<Config, 'database'> }): Condition[] {
  const { path } = config.database
  const free = path === null ? Infinity : freeBytes(path)
  if (free >= LOW_DISK_BYTES) return []
  return [
    {
      subject: 'disk',
      check: 'disk',
      what: `The disk of ${path} has ${mebibytes(free)} left`,
      fix: 'Free some space, or messages will be refused with 503.',
      overText: `Resolved: the disk of ${path} has room again.`,
      detail: { database: path },
    },
  ]
}

export const mebibytes = (bytes: number): string => `${Math.floor(bytes / 1_048_576)} MiB`
