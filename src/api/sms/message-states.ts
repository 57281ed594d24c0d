import { storedAs } from '../../core/message-failure.ts'
import type { ListPage } from '../../db/list-page.ts'

/** States that people look for in lists, which statuses do not express. */
export const LISTED_STATES = ['waiting', 'scheduled', 'failed', 'cancelled', 'undelivered'] as const
export type ListedState = (typeof LISTED_STATES)[number]

/** The conditions of each state, and how SQLite finds its messages. In `time`, `?` is now. */
const STATES: Record<ListedState, Pick<ListPage, 'always' | 'by' | 'isShort'> & { time?: string }> = {
  waiting: { always: `status IN ('queued', 'sending')`, time: 'coalesce(send_at, 0) <= ?', isShort: true },
  scheduled: { always: `status = 'queued'`, time: 'send_at > ?', isShort: true },
  failed: { always: `status = 'failed' AND error_code IS NOT 'cancelled'`, by: 'INDEXED BY messages_failed' },
  cancelled: { always: `status = 'failed' AND error_code = 'cancelled'`, by: 'INDEXED BY messages_failed' },
  undelivered: {
    always: `seq IN (SELECT message_seq FROM delivery_states AS state WHERE state.tenant_id = ?1 AND conclusion = 'undelivered')`,
    by: 'NOT INDEXED',
    isShort: true,
  },
}

/** A list with only the messages of a state. `now`: epoch milliseconds. */
export function inState(list: ListPage, state: ListedState | undefined, now: number): ListPage {
  if (state === undefined) return list
  const { time, ...conditions } = STATES[state]
  return { ...list, ...conditions, filters: time === undefined ? list.filters : { ...list.filters, [time]: now } }
}

/** SQL: whether a failed message's error ends like this. */
const ENDS_WITH = 'substr(error, -length(?)) = ?'

/** A list with only the messages that failed for a reason. If the list names no state, it searches the failed ones. */
export function failedBy(list: ListPage, failure: string | undefined): ListPage {
  if (failure === undefined) return list
  const { code, ending } = storedAs(failure)
  const failed = { always: `status = 'failed'`, by: 'INDEXED BY messages_failed' } as const
  return {
    ...(list.always === undefined ? failed : {}),
    ...list,
    filters: { ...list.filters, 'error_code = ?': code, [ENDS_WITH]: ending },
  }
}
