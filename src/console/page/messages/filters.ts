import type { Direction, ListedState, MessageFilter, MessageStatus } from '../../../client/client.ts'
import {
  type FilterWord,
  type WordOf,
  noSuch,
  problemOf as problemIn,
  queryOf as queryBy,
  wordsOf,
} from '../search/filters.ts'
import { TIME } from '../search/times.ts'
import { type Tab, tabOf as tabIn } from '../list/tab.ts'

const STATES: Readonly<Record<ListedState, string>> = {
  waiting: 'not sent yet',
  scheduled: 'goes out later',
  failed: 'not sent',
  cancelled: 'taken back before it was sent',
  undelivered: 'sent, did not arrive',
}
const STATUSES: Readonly<Record<MessageStatus, string>> = {
  queued: 'accepted, not begun',
  sending: 'an attempt is open',
  sent: 'RingCentral took it',
  failed: 'not sent, or cancelled',
  received: 'came in',
}
const DIRECTIONS: Readonly<Record<Direction, string>> = { inbound: 'came in', outbound: 'of your apps' }

const E164 = /^\+[1-9]\d{8,14}$/

/** The filters of messages. Without one that the API has and the page has not, this does not compile. */
export const FILTERS = {
  state: { values: STATES },
  status: { values: STATUSES },
  direction: { values: DIRECTIONS, hint: 'inbound or outbound' },
  contact: {
    hint: 'texts with somebody, both ways',
    known: ['contacts'],
    // It can also be a short code or a sender's name.
    problem: (value: string) => (value.length > 64 ? 'A contact has at most 64 characters.' : null),
  },
  number: {
    hint: 'texts of one of your numbers, both ways',
    known: ['numbers'],
    problem: (value: string) =>
      E164.test(value) ? null : noSuch(value, 'number of yours', 'Write it as +15035550100'),
  },
  appId: {
    word: 'app',
    hint: 'texts of an app',
    known: ['apps'],
  },
  userId: {
    word: 'user',
    hint: 'the userId that an app gave',
    known: ['users'],
  },
  to: {
    hint: 'the receiver',
    needsWord: true,
    known: ['contacts', 'numbers'],
  },
  from: {
    hint: 'the sender',
    needsWord: true,
    known: ['numbers', 'contacts'],
  },
  startDate: { ...TIME, word: 'after', hint: 'accepted or received since a time' },
  endDate: { ...TIME, word: 'before', hint: 'accepted or received until a time' },
} as const satisfies Record<
  Exclude<keyof MessageFilter, 'tenantId' | 'include' | 'limit'>,
  FilterWord<'contacts' | 'numbers' | 'apps' | 'users' | 'times'>
>

/** The words of the search field and of the address. `text` looks through loaded rows only, because the API has no search in texts. */
export const WORDS: readonly (WordOf<typeof FILTERS> | 'text')[] = [...wordsOf(FILTERS), 'text']
export type Filter = Readonly<Partial<Record<(typeof WORDS)[number], string>>>

const tab = (name: string, asks: Filter = {}): Tab => ({
  name,
  asks: { state: '', status: '', direction: '', ...asks },
})

/** The tabs above the list: the states that most people ask for. What was received is a status of the API. */
export const TABS: readonly Tab[] = [
  tab('All'),
  tab('Waiting', { state: 'waiting' }),
  tab('Scheduled', { state: 'scheduled' }),
  tab('Failed', { state: 'failed' }),
  tab('Not delivered', { state: 'undelivered' }),
  tab('Received', { status: 'received' }),
]

/** The tab that says all of a filter's state, status and direction; null if none does. What is inbound was received. */
export function tabOf(filter: Filter): Tab | null {
  const { status = 'received', direction } = filter
  const isReceived = status === 'received' && direction === 'inbound'
  return tabIn(TABS, isReceived ? { ...filter, status, direction: '' } : filter)
}

/** Words that rows show and the API does not know as a status, with what finds these messages. */
const WORDS_OF_ROWS = new Map([['delivered', 'What was delivered is part of status:sent']])

/** Why a filter finds nothing anywhere, and what can be asked instead; null if it can be asked. */
export const problemOf = (filter: Filter): string | null => problemIn(FILTERS, filter, WORDS_OF_ROWS)

/** The API's query of a filter. `apps` are the apps' ids by name, so that `app:` takes both. */
export const queryOf = ({ app, ...filter }: Filter, apps: ReadonlyMap<string, string>): MessageFilter =>
  queryBy(FILTERS, app === undefined ? filter : { ...filter, app: apps.get(app) ?? app })

/** Whether a loaded row has the searched text. */
export const hasText = (filter: Filter, body: string): boolean =>
  filter.text === undefined || body.toLocaleLowerCase().includes(filter.text.toLocaleLowerCase())
