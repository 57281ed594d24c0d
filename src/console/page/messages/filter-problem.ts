import { oneOf } from '../search/parse-search.ts'
import { type Filter, isTime } from './filter.ts'

const STATES = ['waiting', 'scheduled', 'failed', 'cancelled', 'undelivered']
const STATUSES = ['queued', 'sending', 'sent', 'failed', 'received']
/** Words that rows show and the API does not know as a status, with what finds these messages. */
const WORDS_OF_ROWS: Readonly<Partial<Record<string, string>>> = {
  delivered: 'What was delivered is part of status:sent',
}
const E164 = /^\+[1-9]\d{8,14}$/
/** A contact can be a short code or a sender's name, which are at most so long. */
const MAX_CONTACT_LENGTH = 64

/** Why a filter finds nothing anywhere, and what can be asked instead; null if it can be asked. */
export function problemOf({ state, status, direction, number, contact, after, before }: Filter): string | null {
  if (contact !== undefined && contact.length > MAX_CONTACT_LENGTH) return 'A contact has at most 64 characters.'
  const noTime = [after, before].find((time) => time !== undefined && !isTime(time))
  return (
    among(state, 'state', STATES) ??
    among(status, 'status', STATUSES) ??
    among(direction, 'direction', ['inbound', 'outbound']) ??
    (number === undefined || E164.test(number) ? null : no(number, 'number of yours', 'Write it as +15035550100')) ??
    (noTime === undefined ? null : no(noTime, 'time', 'Try today, yesterday, 24h, 7d or 2026-11-20'))
  )
}

const no = (value: string, kind: string, advice: string): string => `“${value}” is no ${kind}. ${advice}.`

function among(value: string | undefined, kind: string, known: string[]): string | null {
  if (value === undefined || known.includes(value)) return null
  return no(value, kind, WORDS_OF_ROWS[value] ?? `Try ${STATES.includes(value) ? `state:${value}` : oneOf(known)}`)
}
