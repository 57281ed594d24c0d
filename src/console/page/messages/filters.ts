import type { ListedState, MessageFilter } from '../../../client/client.ts'
import type { Suggested } from '../search/facet.ts'
import {
  type FilterWord,
  type Tab,
  type WordOf,
  invalidIn,
  queryOf as queryBy,
  tabOf as tabIn,
  wordsOf,
} from '../search/filters.ts'
import { TIME } from '../search/times.ts'
import { isNumber } from '../thread/contact-forms.ts'
import { FAILURES } from './failures.ts'

/** States that are a status of the API. */
const STATUSES: readonly string[] = ['sent', 'received']
const STATES: Readonly<Record<ListedState | 'sent' | 'received', ''>> = {
  waiting: '',
  scheduled: '',
  failed: '',
  cancelled: '',
  undelivered: '',
  sent: '',
  received: '',
}

/**
 * The filters of messages, with one word for status, state and direction. If the API has a filter that the page lacks, this does not compile.
 */
export const FILTERS = {
  state: { values: STATES },
  failure: {
    // A refusal may have the provider's code.
    isValid: (value: string) => value.replace(/:.*/, '') in FAILURES,
  },
  contact: {
    // It can also be a short code or a sender's name.
    isValid: (value: string) => value.length <= 64,
  },
  // The gateway refuses a value that cannot be the end of a number.
  contactEndsWith: { word: 'ends' },
  number: { isValid: isNumber },
  appId: { word: 'app' },
  userId: { word: 'user' },
  to: {},
  from: {},
  startDate: { ...TIME, word: 'after' },
  endDate: { ...TIME, word: 'before' },
} as const satisfies Record<
  Exclude<keyof MessageFilter, 'tenantId' | 'include' | 'limit' | 'status' | 'direction'>,
  FilterWord
>

/** What suggestions say about each filter. The list's own file does not contain this. */
export const SUGGESTED: Readonly<
  Record<keyof typeof FILTERS, Suggested<'contacts' | 'failures' | 'numbers' | 'apps' | 'users' | 'times'>>
> = {
  state: {},
  failure: { hint: 'why it failed', known: ['failures'], needsWord: true },
  contact: { hint: 'texts to and from a contact', known: ['contacts'] },
  contactEndsWith: { hint: 'last digits of a contact' },
  number: { hint: 'texts to and from one of your numbers', known: ['numbers'] },
  appId: { hint: 'texts of an app', known: ['apps'] },
  userId: { hint: 'the userId that an app gave', known: ['users'] },
  to: { hint: 'the receiver', known: ['contacts', 'numbers'], needsWord: true },
  from: { hint: 'the sender', known: ['numbers', 'contacts'], needsWord: true },
  startDate: { hint: 'accepted or received since a time', known: ['times'], needsWord: true },
  endDate: { hint: 'accepted or received until a time', known: ['times'], needsWord: true },
}

export const STATE_HINTS: Readonly<Record<keyof typeof STATES, string>> = {
  waiting: 'not sent yet',
  scheduled: 'goes out later',
  failed: 'not sent',
  cancelled: 'taken back before it was sent',
  undelivered: 'sent, did not arrive',
  sent: 'RingCentral took it',
  received: 'arrived at a number of yours',
}

/** The words of the search field and of the address. The API cannot search texts: for `text`, the list searches the messages page by page. */
export const WORDS: readonly (WordOf<typeof FILTERS> | 'text')[] = [...wordsOf(FILTERS), 'text']
export type Filter = Readonly<Partial<Record<(typeof WORDS)[number], string>>>

const tab = (name: string, state = ''): Tab => ({ name, asks: { state } })

export const TABS: readonly Tab[] = [
  tab('All'),
  tab('Waiting', 'waiting'),
  tab('Scheduled', 'scheduled'),
  tab('Failed', 'failed'),
  tab('Not delivered', 'undelivered'),
  tab('Received', 'received'),
]

export const tabOf = (filter: Filter): Tab | null => tabIn(TABS, filter)

/** The state that a link from an older version names by status or direction; '' if it names none. */
export function stateOfLink({ status = '', direction }: Readonly<Record<string, string>>): string {
  if (status === 'queued' || status === 'sending') return 'waiting'
  return status || (direction === 'inbound' ? 'received' : '')
}

/** Whether the API takes a filter. */
export const isValid = (filter: Filter): boolean => invalidIn(FILTERS, filter) === undefined

/** The API's query for a filter. `apps` are the apps' ids by name, so that `app:` takes both. */
export function queryOf({ app, ...filter }: Filter, apps: ReadonlyMap<string, string>): MessageFilter {
  const { state, ...query } = queryBy(FILTERS, app === undefined ? filter : { ...filter, app: apps.get(app) ?? app })
  return state === undefined ? query : { ...query, [STATUSES.includes(state) ? 'status' : 'state']: state }
}

export const hasText = (filter: Filter, body: string): boolean =>
  filter.text === undefined || body.toLocaleLowerCase().includes(filter.text.toLocaleLowerCase())
