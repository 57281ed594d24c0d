import { noSuch, problemOf as problemIn } from '../search/problem.ts'
import { FILTERS, type Filter } from './filters.ts'

const noTime = (value: string): string => noSuch(value, 'time', 'Try today, yesterday, 24h, 7d or 2026-11-20')

/** Why a filter of messages finds nothing anywhere, and what to ask instead; null if it is valid. */
export const problemOf = (filter: Filter): string | null =>
  problemIn(FILTERS, filter, {
    // Rows show this word, but it is not a state of the API.
    state: (value) =>
      value === 'delivered' ? noSuch(value, 'state', 'What was delivered is part of state:sent') : undefined,
    failure: (value) => noSuch(value, 'failure', 'Try expired or revoked'),
    contact: () => 'A contact has at most 64 characters.',
    number: (value) => noSuch(value, 'number', 'Write it as +15035550100'),
    after: noTime,
    before: noTime,
  })
