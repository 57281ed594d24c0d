import type { DeliveryFilter } from '../../../client/client.ts'
import type { Suggested } from '../search/facet.ts'
import {
  type FilterWord,
  type Tab,
  type WordOf,
  queryOf as queryBy,
  tabOf as tabIn,
  wordsOf,
} from '../search/filters.ts'
import { parseSearch } from '../search/parse-search.ts'
import { noSuch, oneOf, problemOf } from '../search/problem.ts'
import { OUTCOMES } from './words.ts'

/** The filters of deliveries. The API has more, which the page does not use. */
export const FILTERS = {
  appId: { word: 'app' },
  triggerId: { word: 'trigger' },
  messageId: { word: 'message' },
  outcome: { values: OUTCOMES },
  state: { values: { never_arrived: 'Never arrived' } },
} as const satisfies Record<Exclude<keyof DeliveryFilter, 'kind' | 'startDate' | 'endDate' | 'limit'>, FilterWord>

/** What suggestions say about each filter. The list's own file does not contain this. */
export const SUGGESTED: Readonly<Record<keyof typeof FILTERS, Suggested<'apps' | 'triggers' | 'messages'>>> = {
  appId: { hint: 'deliveries to an app’s webhook', known: ['apps'] },
  triggerId: { hint: 'deliveries to a trigger', known: ['triggers'] },
  messageId: { hint: 'deliveries about a message', known: ['messages'] },
  outcome: { hint: 'how an attempt ended' },
  state: { hint: 'what failed and is not tried again' },
}

/** The words of the search field and of the address. */
export const WORDS: readonly WordOf<typeof FILTERS>[] = wordsOf(FILTERS)
export type Filter = Readonly<Partial<Record<(typeof WORDS)[number], string>>>

/** The API's query for a filter. The API itself refuses an unknown outcome. */
export const queryOf = (filter: Filter): DeliveryFilter => queryBy(FILTERS, filter)

export const TABS: readonly Tab[] = [
  { name: 'All', asks: { outcome: '', state: '' } },
  { name: 'Never arrived', asks: { outcome: '', state: 'never_arrived' } },
  { name: 'Delivered', asks: { outcome: 'success', state: '' } },
]
export const tabOf = (filter: Filter): Tab | null => tabIn(TABS, filter)

/** What `id` in the address opens: a destination or a delivery. In older links, the number of an attempt follows. */
export function openedOf(id: string): { destination: string } | { deliveryId: string; messageId: string } | null {
  if (id === '') return null
  if (/^(app|trg)_/.test(id)) return { destination: id }
  const [deliveryId = ''] = id.split(' ')
  return { deliveryId, messageId: deliveryId.split(':')[0] ?? '' }
}

/** The filters in the typed text, with an app by its name or its id; or why they find nothing. */
export function readSearch(typed: string, destinations: readonly { id: string; name: string }[]) {
  const { text, ...asked } = parseSearch(typed, WORDS)
  const problem =
    text === undefined
      ? problemOf(FILTERS, asked)
      : noSuch(text, 'filter', `Try ${oneOf(WORDS.map((word) => `${word}:`))}`)
  if (problem !== null) return problem
  const known = destinations.find(({ name }) => name === asked.app)
  return known === undefined ? asked : { ...asked, app: known.id }
}
