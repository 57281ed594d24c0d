import { RESTORED_BOOT } from './restore-mark.ts'

/** Returns one row with the number of open attempts as `count`. */
export const COUNT_OPEN_ATTEMPTS = `SELECT count(*) AS count FROM send_attempts INDEXED BY send_attempts_open WHERE closed_at IS NULL`

/** Returns one row with the number of messages that wait for the lookup after a restore as `count`. */
export const COUNT_QUARANTINED = `${COUNT_OPEN_ATTEMPTS} AND boot_id = '${RESTORED_BOOT}'`

/** Returns a row if the tenant `?1` has an open attempt; only of the extension `?2` unless that is null. */
export const HAS_OPEN_ATTEMPTS = `SELECT 1 FROM send_attempts INDEXED BY send_attempts_open
  WHERE closed_at IS NULL AND tenant_id = ?1 AND extension_id = coalesce(?2, extension_id) LIMIT 1`
