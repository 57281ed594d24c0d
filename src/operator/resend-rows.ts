import { LONGEST_BEFORE_FAILURE_MS, storedAs } from '../core/message-failure.ts'
import type { Argument } from '../db/connection.ts'
import { isKept } from '../messages/media/media-rows.ts'
import { lacksNumber } from '../messages/usage/failures.ts'
import type { ResendBody } from './resend-schemas.ts'

/** What happens to a failed message when it is to be sent again. */
export type ResendOutcome =
  | 'notFailed'
  | 'alreadyResent'
  | 'cancelled'
  | 'perhapsDelivered'
  | 'optedOut'
  | 'tooOld'
  | 'refused'
  | 'resent'

/** SQL: whether the contact has opted out of the number that the message was from, or of the one that it would be sent from. */
const IS_OPTED_OUT = `EXISTS (SELECT 1 FROM opt_outs WHERE opt_outs.tenant_id = failed.tenant_id AND opt_outs.contact = failed.to_number
  AND opt_outs.number IN (failed.from_number, coalesce(?10, failed.from_number)) AND opt_outs.opted_out = 1)`

/** SQL: whether its app could send a new message. */
const IS_APP_ACTIVE = `EXISTS (SELECT 1 FROM apps CROSS JOIN tenants ON tenants.id = apps.tenant_id AND tenants.status = 'active'
  WHERE apps.id = failed.app_id AND apps.tenant_id = failed.tenant_id AND apps.is_active = 1)`

const LACKS_MEDIA = `EXISTS (SELECT 1 FROM json_each(failed.attachments) AS carried WHERE NOT EXISTS (SELECT 1 FROM media
  WHERE media.id = carried.value ->> 'attachmentId' AND media.tenant_id = failed.tenant_id AND ${isKept('?12')}))`

/** SQL: it would fail as before. A caller that names this reason may know better, because the numbers are read again when a message needs one. */
const WOULD_LACK_NUMBER = `?10 IS NULL AND ?3 IS NOT 'unknown_number' AND ${lacksNumber('failed')}`

/** SQL: the first outcome that is true. */
const OUTCOME = `CASE WHEN failed.status <> 'failed' THEN 'notFailed'
  WHEN failed.resent_as IS NOT NULL THEN 'alreadyResent'
  WHEN failed.error_code = 'cancelled' THEN 'cancelled'
  WHEN failed.error_code = 'unconfirmed' AND NOT ?9 THEN 'perhapsDelivered'
  WHEN ${IS_OPTED_OUT} THEN 'optedOut'
  WHEN failed.created_at < ?11 THEN 'tooOld'
  WHEN NOT ${IS_APP_ACTIVE} OR ${LACKS_MEDIA} OR ${WOULD_LACK_NUMBER} THEN 'refused'
  ELSE 'resent' END`

const FILTERS = `failed.tenant_id = ?1 AND (?2 IS NULL OR failed.app_id = ?2) AND failed.seq <= ?8`

const FAILED_SO = `(?3 IS NULL OR failed.error_code = ?3) AND (?4 IS NULL OR substr(failed.error, -length(?4)) = ?4)
  AND failed.updated_at BETWEEN ?5 AND ?6`

/** SQL: the named messages, or those of the tenant that failed. */
const fromWhere = (named: boolean): string =>
  named
    ? `FROM messages AS failed WHERE failed.id IN (SELECT value FROM json_each(?7)) AND ${FILTERS}
      AND (failed.status <> 'failed' OR (${FAILED_SO}))`
    : `FROM messages AS failed INDEXED BY messages_failed WHERE failed.status = 'failed' AND ${FILTERS} AND ${FAILED_SO}
      AND failed.created_at >= ?5 - ${LONGEST_BEFORE_FAILURE_MS} AND ?7 IS NULL`

/** How many messages have each outcome. */
export const countsSql = (named: boolean): string =>
  `SELECT ${OUTCOME} AS outcome, count(*) AS count ${fromWhere(named)} GROUP BY 1`

/** The next messages to send again, after the one of the time `?13` and the number `?14`, oldest first. `?15`: how many. */
export const portionSql = (named: boolean): string =>
  `SELECT failed.seq, failed.id, failed.app_id, failed.user_id, failed.from_number, failed.to_number, failed.body, failed.attachments,
    failed.created_at ${fromWhere(named)} AND (failed.created_at, failed.seq) > (?13, ?14) AND ${OUTCOME} = 'resent'
  ORDER BY failed.created_at, failed.seq LIMIT ?15`

/** The arguments `?1` to `?12`. `lastSeq`: excludes later messages, such as those that a resend creates. */
export function argumentsOf(wish: ResendBody, lastSeq: number, now: number): Argument[] {
  const { messageIds: named = null, maxAgeMinutes: maxAge = null } = wish
  const { code = null, ending = null } = wish.failure ? storedAs(wish.failure) : {}
  return [
    wish.tenantId,
    wish.appId ?? null,
    code,
    ending,
    wish.failedSince ?? 0,
    wish.failedUntil ?? Number.MAX_SAFE_INTEGER,
    named === null ? null : JSON.stringify(named),
    lastSeq,
    wish.failure === 'unconfirmed' && named !== null ? 1 : 0,
    wish.from ?? null,
    maxAge === null ? 0 : now - maxAge * 60_000,
    now,
  ]
}
