import type { Log, LogFields } from '../core/log.ts'
import { isStorageCode } from './gate.ts'
import type { Storage } from './storage.ts'

/**
 * A log in which a fault of the storage is one line a minute, the one that `storage` writes. While a disk is full, every job, timer and
 * queue fails again each second: those lines are written at level `debug`.
 */
export function withoutRepeats(log: Log, storage: Storage | undefined): Log {
  const isRepeat = ({ error }: LogFields): boolean =>
    storage?.isReported === true && typeof error === 'string' && isStorageCode(error.split(' ').at(-1) ?? '')
  return {
    debug: (fields, message) => log.debug(fields, message),
    info: (fields, message) => log.info(fields, message),
    warn: (fields, message) => log[isRepeat(fields) ? 'debug' : 'warn'](fields, message),
    error: (fields, message) => log[isRepeat(fields) ? 'debug' : 'error'](fields, message),
    audit: (fields, message) => log.audit(fields, message),
  }
}
