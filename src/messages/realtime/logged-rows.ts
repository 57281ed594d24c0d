import type { Value } from '@libsql/client'
import type { FailureCode } from '../../core/message-failure.ts'
import { textOrNull } from '../../db/connection.ts'
import { EVENT_KINDS } from '../../db/schema/events.ts'
import type { LoggedRow } from './event.ts'

/** The tenant of a row of the log; null if its message or opt-out was deleted. */
export const TENANT_OF_ROW = 'coalesce(messages.tenant_id, opt_outs.tenant_id)'

/** SELECT of rows of the log, without a WHERE clause, for `loggedRow`. Only an event of an inbound message has its text. */
export const LOGGED_ROWS = `SELECT events.seq, events.kinds, events.at, events.detail, events.subject, ${TENANT_OF_ROW},
    coalesce(messages.from_number, opt_outs.number), coalesce(messages.to_number, opt_outs.contact), messages.app_id,
    iif(events.kinds = ${EVENT_KINDS.received}, messages.body, '') AS body, messages.rc_message_id, messages.error, messages.error_code, messages.receiving_extension_id
  FROM events LEFT JOIN messages ON messages.id = events.subject
  LEFT JOIN opt_outs ON opt_outs.id = iif(events.kinds = ${EVENT_KINDS.optOut}, events.subject, NULL)`

/** A row of `LOGGED_ROWS`. Its `kinds` are none if its subject was deleted. */
export function loggedRow(values: readonly Value[]): LoggedRow {
  const [seq, kinds, at, detail, id, tenantId, from, to, appId, body, rcMessageId, error, failureCode, extensionId] =
    values
  return {
    seq: Number(seq),
    kinds: tenantId === null ? 0 : Number(kinds),
    at: Number(at),
    detail: textOrNull(detail),
    id: String(id),
    tenantId: String(tenantId),
    from: String(from),
    to: String(to),
    appId: String(appId),
    body: String(body),
    rcMessageId: textOrNull(rcMessageId),
    error: textOrNull(error),
    failureCode: textOrNull(failureCode) as FailureCode | null,
    receivingExtensionId: textOrNull(extensionId),
  }
}
