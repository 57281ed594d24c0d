// Open attempts are rows of `send_attempts` without an outcome, and messages that stand for their first one.

/** Condition on `messages`, as the index `messages_open` has it. */
export const OPEN_FIRST_ATTEMPT = `first_attempt_extension_id IS NOT NULL AND status = 'sending'`

/** Answers one row, with their number as `count`. */
export const COUNT_OPEN_ATTEMPTS = `SELECT (SELECT count(*) FROM send_attempts WHERE outcome IS NULL)
  + (SELECT count(*) FROM messages WHERE ${OPEN_FIRST_ATTEMPT}) AS count`

/** Answers a row if the tenant `?1` has one. The plus leaves SQLite no way but the index of the open ones: the tenant's own lists all of its messages. */
export const HAS_OPEN_ATTEMPTS = `SELECT 1 FROM send_attempts WHERE outcome IS NULL AND tenant_id = ?1
  UNION ALL SELECT 1 FROM messages WHERE ${OPEN_FIRST_ATTEMPT} AND +tenant_id = ?1
  LIMIT 1`
