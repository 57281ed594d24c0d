import type { Conversation } from '../../../client/client.ts'
import { count } from '../state/clock.ts'
import type { Trouble } from '../state/view-names.ts'
import { isNumber } from '../thread/contact-forms.ts'

const WEEK_MS = 7 * 86_400_000
/** The gateway stops counting here. */
const MOST = 1000

/** Whether a contact is waiting for an answer, as the gateway counts: it wrote last, within a week, from a number, and has not opted out. */
export const waitsForAnswer = (
  { contact, lastMessage: { direction, createdAt }, optedOut }: Conversation,
  now: number,
): boolean => direction === 'inbound' && isNumber(contact) && !optedOut && Date.parse(createdAt) >= now - WEEK_MS

/** How many of all conversations are waiting for an answer. */
export function answersText(total: number, toAnswer: number): string {
  if (total === 1) return toAnswer === 1 ? 'One conversation needs your answer.' : 'One conversation.'
  if (toAnswer === 0) return `${count(total)} conversations, none needs your answer.`
  return `${counted(toAnswer)} of ${count(total)} conversations ${toAnswer === 1 ? 'needs' : 'need'} your answer.`
}

/** For the rail: this is no trouble, but somebody is waiting. */
export const answersTrouble = (toAnswer: number): Trouble | null =>
  toAnswer === 0 ? null : { count: counted(toAnswer), kind: 'plain', word: 'to answer' }

/** `1,000+` if there may be more. */
const counted = (toAnswer: number): string => `${count(toAnswer)}${toAnswer === MOST ? '+' : ''}`
