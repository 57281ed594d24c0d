import type { MessageFilter } from '../../../client/client.ts'

/**
 * The words of the search field, `status:failed to:+1503…`, and the parameters of the address, by the same names. `text` looks
 * through loaded rows only, because the API has no search in texts.
 */
export const FILTER_NAMES = [
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

/** Reads what was typed: `name:value` words are filters, other words are searched in the texts. Unknown names are text. */
export function parseSearch(typed: string): Filter {
  const filter: Partial<Record<FilterName, string>> = {}
  const words: string[] = []
  for (const word of typed.trim().split(/\s+/)) {
    const [, name, value] = /^(\w+):(.+)$/.exec(word) ?? []
    const known = FILTER_NAMES.find((candidate) => candidate === name && candidate !== 'text')
    if (known !== undefined && value !== undefined) filter[known] = value
    else if (word !== '') words.push(word)
  }
  return words.length === 0 ? filter : { ...filter, text: words.join(' ') }
}

/** The API's query of a filter. `apps` are the apps' ids by name, so that `app:` takes both. */
export function queryOf(filter: Filter, apps: ReadonlyMap<string, string>): MessageFilter {
  const { status, direction, to, from, contact, number, app, user, after, before } = filter
  const query: Record<string, string | undefined> = {
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

/** `today`, `yesterday`, `24h`, `7d`, a date, or a date-time; the local day's beginning for the first two. */
function dateOf(value: string): string {
  const today = new Date()
  today.setHours(0, 0, 0, 0)
  if (value === 'today') return today.toISOString()
  if (value === 'yesterday') return new Date(today.getTime() - DAY_MS).toISOString()
  const [, amount, unit] = /^(\d{1,4})([hd])$/.exec(value) ?? []
  if (amount === undefined) return value
  return new Date(Date.now() - Number(amount) * (unit === 'h' ? HOUR_MS : DAY_MS)).toISOString()
}

/** Whether a loaded row has the searched text. */
export const hasText = (filter: Filter, body: string): boolean =>
  filter.text === undefined || body.toLocaleLowerCase().includes(filter.text.toLocaleLowerCase())
