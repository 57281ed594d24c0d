import { type Facet, type FacetValue, matching } from '../search/facet.ts'

/** What is known of a tenant, for the values of filters. */
export interface KnownValues {
  apps: readonly string[]
  /** Own numbers with what they are called. */
  numbers: readonly FacetValue[]
  /** The newest first. */
  contacts: readonly FacetValue[]
  users: readonly string[]
  /** Epoch milliseconds. */
  now: number
}

/** The filters of the API in words, with the values that are known. */
export function messageFacets({ apps, numbers, contacts, users, now }: KnownValues): Facet[] {
  return [
    facet('state', 'waiting, scheduled, failed, cancelled, undelivered', STATES, true),
    facet('status', 'queued, sending, sent, failed, received', STATUSES, true),
    facet('direction', 'inbound or outbound', DIRECTIONS, true),
    facet('contact', 'texts with somebody, both ways', contacts, true),
    facet('number', 'texts of one of your numbers, both ways', numbers, true),
    facet('app', 'texts of an app', values(apps), true),
    facet('user', 'the userId that an app gave', values(users), true),
    facet('to', 'the receiver', [...contacts, ...numbers]),
    facet('from', 'the sender', [...numbers, ...contacts]),
    { name: 'after', hint: 'accepted or received since a time', valuesFor: (part) => timesFor(part, now) },
    { name: 'before', hint: 'accepted or received until a time', valuesFor: (part) => timesFor(part, now) },
  ]
}

const facet = (name: string, hint: string, known: readonly FacetValue[], isFoundByValue = false): Facet => ({
  name,
  hint,
  isFoundByValue,
  valuesFor: (part) => matching(known, part),
})

const values = (names: readonly string[]): FacetValue[] => names.map((value) => ({ value }))
const hinted = (hints: Readonly<Record<string, string>>): FacetValue[] =>
  Object.entries(hints).map(([value, hint]) => ({ value, hint }))

const STATES = hinted({
  waiting: 'not sent yet',
  scheduled: 'goes out later',
  failed: 'not sent',
  cancelled: 'taken back before it was sent',
  undelivered: 'sent, did not arrive',
})
const STATUSES = hinted({
  queued: 'accepted, not begun',
  sending: 'an attempt is open',
  sent: 'RingCentral took it',
  failed: 'not sent, or cancelled',
  received: 'came in',
})
const DIRECTIONS = hinted({ inbound: 'came in', outbound: 'of your apps' })

const TIMES = hinted({
  today: 'since midnight',
  yesterday: 'since midnight of yesterday',
  '1h': 'an hour ago',
  '24h': '24 hours ago',
  '7d': '7 days ago',
  '30d': '30 days ago',
})
const UNITS = { h: 'hours ago', d: 'days ago' } as const

/** A number that was typed can be hours or days. The last one shows how a date is written. */
function timesFor(part: string, now: number): readonly FacetValue[] {
  if (/^\d{1,3}$/.test(part))
    return Object.entries(UNITS).map(([unit, words]) => ({ value: `${part}${unit}`, hint: `${part} ${words}` }))
  const date = new Date(now).toISOString().slice(0, 10)
  return matching([...TIMES, { value: date, hint: `a date, or a time: ${date}T14:00Z` }], part)
}
