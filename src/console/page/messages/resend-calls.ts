import type { FailureGroup, Sgw } from '../../../client/client.ts'
import { queryOf } from './filters.ts'
import type { MessageList } from './list-state.ts'
import type { ListRow } from './row.ts'

/** What happened to messages that were to be sent again, as `POST /v1/operator/messages/resend` counts it. */
export interface Resent {
  resent: number
  refused: number
  left: Record<'optedOut' | 'tooOld' | 'cancelled' | 'perhapsDelivered' | 'alreadyResent' | 'notFailed', number>
}

/** Which messages to send again: the requests, oldest first, and the messages themselves if there are few enough to name. */
export interface Meant {
  wishes: readonly object[]
  rows: readonly ListRow[] | null
}

const PAGE = 100
const MOST_NAMED = 1000

/**
 * The messages of a group, exactly as the list's filter finds them: named one by one. More than a thousand are named only by their reason,
 * which no other filter may narrow; null if one does.
 */
export async function meantBy(list: MessageList, { failure, count }: FailureGroup): Promise<Meant | null> {
  const { state: _, appId, ...narrowed } = queryOf(list.filter, list.apps)
  if (count > MOST_NAMED) return Object.keys(narrowed).length > 0 ? null : { wishes: [{ failure, appId }], rows: null }
  const pages = list.sgw.sms.list({ ...narrowed, appId, state: 'failed', failure, limit: PAGE })
  const rows: ListRow[] = []
  for await (const row of pages) rows.unshift(row)
  const wishes = Array.from({ length: Math.ceil(rows.length / PAGE) }, (_each, index) => ({
    failure,
    messageIds: rows.slice(index * PAGE, (index + 1) * PAGE).map(({ messageId }) => messageId),
  }))
  return { wishes, rows }
}

interface Options {
  tenantId: string
  from?: string | undefined
  maxAgeMinutes?: number | undefined
  dryRun: boolean
}

/** Sends the chosen messages again, or counts what would be sent. */
export async function resend(sgw: Sgw, { wishes }: Meant, options: Options): Promise<Resent> {
  const answers: Resent[] = []
  for (const wish of wishes)
    answers.push(await sgw.request('POST', '/v1/operator/messages/resend', { body: { ...wish, ...options } }))
  const sum = (numberOf: (answer: Resent) => number): number =>
    answers.reduce((total, answer) => total + numberOf(answer), 0)
  const left = (reason: keyof Resent['left']): number => sum((answer) => answer.left[reason])
  return {
    resent: sum(({ resent }) => resent),
    refused: sum(({ refused }) => refused),
    left: {
      optedOut: left('optedOut'),
      tooOld: left('tooOld'),
      cancelled: left('cancelled'),
      perhapsDelivered: left('perhapsDelivered'),
      alreadyResent: left('alreadyResent'),
      notFailed: left('notFailed'),
    },
  }
}
