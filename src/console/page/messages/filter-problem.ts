import { oneOf } from '../search/parse-search.ts'
import { type Filter, isTime } from './filter.ts'

const STATES = ['waiting', 'scheduled', 'failed', 'cancelled', 'undelivered']
const STATUSES = ['queued', 'sending', 'sent', 'failed', 'received']
/** Words that rows show and the API does not know as a status, with what finds these messages. */
const WORDS_OF_ROWS: Readonly<Partial<Record<string, string>>> = {
  delivered: 'What was delivered is part of status:sent.',
}
const E164 = /^\+[1-9]\d{8,14}$/
/** A contact can be a short code or a sender's name, which are at most so long. */
const MAX_CONTACT_LENGTH = 64

/** Why a filter finds nothing anywhere, and what can be asked instead; null if it can be asked. */
export function problemOf({ state, status, direction, number, contact, after, before }: Filter): string | null {
  if (state !== undefined && !STATES.includes(state)) return `“${state}” is no state. Try ${oneOf(STATES)}.`
  if (status !== undefined && !STATUSES.includes(status)) return `“${status}” is no status. ${insteadOf(status)}`
  if (direction !== undefined && !['inbound', 'outbound'].includes(direction))
    return `“${direction}” is no direction. Try inbound or outbound.`
  if (number !== undefined && !E164.test(number)) return `“${number}” is no number of yours. Write it as +15035550100.`
  if (contact !== undefined && contact.length > MAX_CONTACT_LENGTH)
    return 'A contact has at most 64 characters: a number, a short code or a name.'
  const noTime = [after, before].find((time) => time !== undefined && !isTime(time))
  return noTime === undefined ? null : `“${noTime}” is no time. Try today, yesterday, 24h, 7d or 2026-11-20.`
}

function insteadOf(status: string): string {
  if (STATES.includes(status)) return `Try state:${status}.`
  return WORDS_OF_ROWS[status] ?? `Try ${oneOf(STATUSES)}.`
}
