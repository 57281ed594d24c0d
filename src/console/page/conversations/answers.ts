import type { Conversation } from '../../../client/client.ts'
import { count } from '../state/clock.ts'

/** In how many of all conversations the contact wrote last. */
export function answersText(all: readonly Pick<Conversation, 'lastMessage'>[]): string {
  const waiting = all.filter(({ lastMessage }) => lastMessage.direction === 'inbound').length
  if (all.length === 1) return waiting === 1 ? 'One conversation waits for your answer.' : 'One conversation.'
  if (waiting === 0) return `${count(all.length)} conversations, none waits for your answer.`
  return `${count(waiting)} of ${count(all.length)} conversations ${waiting === 1 ? 'waits' : 'wait'} for your answer.`
}
