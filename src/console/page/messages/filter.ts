import type { MessageFilter } from '../../../client/client.ts'

/**
 * The words of the search field, `status:failed to:+1503…`, and the parameters of the address, by the same names. `text` looks
 * through loaded rows only, because the API has no search in texts.
 */
export const FILTER_NAMES = [
  'state',
  'status',
  'direction',
  'to',
  'from',
  'contact',
  'number',
  'app',
  'user',
  'after',
  'before',
  'text',
] as const
export type FilterName = (typeof FILTER_NAMES)[number]
export type Filter = Readonly<Partial<Record<FilterName, string>>>

/** The filter of an address. */
export const filterOf = (params: Readonly<Record<string, string>>): Filter =>
  Object.fromEntries(FILTER_NAMES.flatMap((name) => (params[name] ? [[name, params[name]]] : [])))

/** The tabs above the list: the states that most people ask for. */
export const TABS = [
  { name: 'All', state: undefined },
  { name: 'Waiting', state: 'waiting' },
  { name: 'Scheduled', state: 'scheduled' },
  { name: 'Failed', state: 'failed' },
  { name: 'Not delivered', state: 'undelivered' },
  { name: 'Received', state: 'received' },
] as const

/** The tab that says all of a filter's state, status and direction; null if none does. What is inbound was received. */
export function tabOf({ state, status, direction }: Filter): (typeof TABS)[number] | null {
  const isReceived = state === undefined && (status ?? 'received') === 'received' && direction !== 'outbound'
  const isInbound = isReceived && (direction === 'inbound' || status === 'received')
  if (!isInbound && (status !== undefined || direction !== undefined)) return null
  return TABS.find((tab) => tab.state === (isInbound ? 'received' : state)) ?? null
}

/** The filter of a tab. What was received is a status of the API, the others are states. */
export const filterOfTab = ({ state }: (typeof TABS)[number]): Record<'state' | 'status' | 'direction', string> => ({
  state: state === undefined || state === 'received' ? '' : state,
  status: state === 'received' ? state : '',
  direction: '',
})

/** The API's query of a filter. `apps` are the apps' ids by name, so that `app:` takes both. */
export function queryOf(filter: Filter, apps: ReadonlyMap<string, string>): MessageFilter {
  const { state, status, direction, to, from, contact, number, app, user, after, before } = filter
  const query: Record<string, string | undefined> = {
    state,
    status,
    direction,
    to,
    from,
    contact,
    number,
    appId: app === undefined ? undefined : (apps.get(app) ?? app),
    userId: user,
    startDate: after === undefined ? undefined : dateOf(after),
    endDate: before === undefined ? undefined : dateOf(before),
  }
  return Object.fromEntries(Object.entries(query).filter(([, value]) => value !== undefined)) as MessageFilter
}

const DAY_MS = 86_400_000
const HOUR_MS = 3_600_000

const AGO = /^(\d{1,4})([hd])$/
const DATE = /^(\d{4}-\d\d-\d\d)(T([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d))?$/

/** Whether `after:` and `before:` understand a value. */
export function isTime(value: string): boolean {
  if (value === 'today' || value === 'yesterday' || AGO.test(value)) return true
  const day = DATE.exec(value)?.[1]
  const time = day === undefined ? NaN : Date.parse(`${day}T00:00:00Z`)
  // The 31st of February would be read as a day of March.
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(day ?? '')
}

/** `today`, `yesterday`, `24h`, `7d`, a date, or a date-time; the local day's beginning for the first two. */
function dateOf(value: string): string {
  const today = new Date()
  today.setHours(0, 0, 0, 0)
  if (value === 'today') return today.toISOString()
  if (value === 'yesterday') return new Date(today.getTime() - DAY_MS).toISOString()
  const [, amount, unit] = AGO.exec(value) ?? []
  if (amount === undefined) return value
  return new Date(Date.now() - Number(amount) * (unit === 'h' ? HOUR_MS : DAY_MS)).toISOString()
}

/** Whether a loaded row has the searched text. */
export const hasText = (filter: Filter, body: string): boolean =>
  filter.text === undefined || body.toLocaleLowerCase().includes(filter.text.toLocaleLowerCase())
