import type { Extension } from './directory.ts'
import { apiError, invalidParameter } from './errors.ts'
import type { Reply } from './http.ts'

/**
 * The event filters that the simulator knows (RingCentral API reference, "Event types"): inbound SMS with its text,
 * message-store changes, changes of message threads and of consents, and the renewal reminder. `~` becomes the real ids, except in the reminder.
 */
export function resolveFilters(extension: Extension, filters: unknown): string[] | Reply {
  if (!Array.isArray(filters) || filters.length === 0) return invalidParameter('eventFilters')
  const resolved: string[] = []
  for (const filter of filters as unknown[]) {
    const one = resolveFilter(extension, filter)
    if (typeof one !== 'string') return one
    resolved.push(one)
  }
  const onlyReminders = resolved.every((filter) => reminderOf(filter) !== null)
  return onlyReminders ? badFilters('SUB-515', 'Subscription containing only reminder filter is not allowed') : resolved
}

const STORE_FILTER = /^\/restapi\/v1\.0\/account\/(~|\d+)\/extension\/(~|\d+)(\/message-store(?:\/instant)?)(\?.*)?$/
const REMINDER = /^\/restapi\/v1\.0\/subscription\/~\?threshold=(\d+)&interval=(\d+)$/
const INSTANT_QUERY = '?type=SMS'
const CHANGE_QUERY = /^(\?type=SMS(&direction=(Inbound|Outbound))?)?$/

function resolveFilter(extension: Extension, filter: unknown): string | Reply {
  if (typeof filter !== 'string') return invalidParameter('eventFilters')
  if (reminderOf(filter) !== null) return filter
  const threads = THREADS_FILTER.exec(filter)?.[1]
  if (threads !== undefined) return threadsFilter(extension, threads)
  const consents = CONSENTS_FILTER.exec(filter)?.[1]
  if (consents !== undefined) return consentsFilter(extension, consents)
  const match = STORE_FILTER.exec(filter)
  const [account, owner, path, query = ''] = match === null ? [] : match.slice(1)
  const known = path === '/message-store' ? CHANGE_QUERY.test(query) : path !== undefined && query === INSTANT_QUERY
  if (!known) return badFilters('SUB-508', `Invalid event filters: [${filter}]`)
  if (account !== '~' && account !== String(extension.accountId)) return otherAccount()
  if (owner !== '~' && owner !== String(extension.id)) {
    return apiError(403, 'SUB-405', 'Not allowed subscribe for messages to other extensions')
  }
  return `/restapi/v1.0/account/${extension.accountId}/extension/${extension.id}${path}${query}`
}

const THREADS_FILTER = /^\/restapi\/v1\.0\/account\/(~|\d+)\/message-threads\/entries\/sync$/

const threadsFilter = ({ accountId }: Extension, account: string): string | Reply =>
  account === '~' || account === String(accountId)
    ? `/restapi/v1.0/account/${accountId}/message-threads/entries/sync`
    : otherAccount()

const CONSENTS_FILTER = /^\/restapi\/v2\/accounts\/(~|\d+)\/sms\/consents$/

const consentsFilter = ({ accountId }: Extension, account: string): string | Reply =>
  account === '~' || account === String(accountId) ? `/restapi/v2/accounts/${accountId}/sms/consents` : otherAccount()

const otherAccount = (): Reply =>
  apiError(403, 'SUB-406', 'Not allowed subscribe for events to extensions of other account')

const badFilters = (code: string, message: string): Reply => apiError(400, code, message)

export const isInstant = (filter: string): boolean => filter.endsWith('/message-store/instant?type=SMS')

/** Whether it is the filter of changes of message threads. */
export const isThreads = (filter: string): boolean => filter.endsWith('/message-threads/entries/sync')

/** Whether it is the filter of changes of consents. */
export const isConsents = (filter: string): boolean => filter.endsWith('/sms/consents')

/** Whether a message-store filter covers messages of this direction. */
export function isChangeOf(filter: string, direction: string): boolean {
  if (!/\/message-store(\?|$)/.test(filter)) return false
  const wanted = /direction=(\w+)/.exec(filter)?.[1]
  return wanted === undefined || wanted === direction
}

/** Reads a reminder filter. Both values are in seconds. Null for any other filter. */
export function reminderOf(filter: string): { threshold: number; interval: number } | null {
  const match = REMINDER.exec(filter)
  return match === null ? null : { threshold: Number(match[1]), interval: Number(match[2]) }
}
