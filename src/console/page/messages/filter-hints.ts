import type { FILTERS, State } from './filters.ts'

/** What each filter asks for, in a few words: only suggestions say it, so it is loaded with them. */
export const HINTS: Readonly<Record<Exclude<keyof typeof FILTERS, 'state'>, string>> = {
  failure: 'why it failed',
  contact: 'texts with somebody, both ways',
  contactEndsWith: 'last digits of a contact',
  number: 'texts of one of your numbers, both ways',
  appId: 'texts of an app',
  userId: 'the userId that an app gave',
  to: 'the receiver',
  from: 'the sender',
  startDate: 'accepted or received since a time',
  endDate: 'accepted or received until a time',
}

/** What each state means. */
export const STATE_HINTS: Readonly<Record<State, string>> = {
  waiting: 'not sent yet',
  scheduled: 'goes out later',
  failed: 'not sent',
  cancelled: 'taken back before it was sent',
  undelivered: 'sent, did not arrive',
  sent: 'RingCentral took it',
  received: 'came in',
}
