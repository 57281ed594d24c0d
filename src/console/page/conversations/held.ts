import type { Message, Waiting } from '../../../client/client.ts'
import { reasonText } from '../messages/wait-words.ts'
import { capital, rowTime } from '../state/clock.ts'

/** When the first of the waiting texts goes out, as the end of a sentence (`, after 14:30:08`), and what holds it until then. */
export function heldText(late: readonly Pick<Message, 'waiting'>[], now: number): { after: string; why: string } {
  const waits = late.flatMap(({ waiting }) => waiting ?? [])
  const [next] = waits.toSorted((one, other) => (rankOf(one) < rankOf(other) ? -1 : 1))
  // A text that waits for nothing is on its way.
  if (next === undefined || waits.length < late.length) return { after: '', why: '' }
  const { reason, until } = next
  return {
    after: until === undefined ? '' : `, after ${rowTime(until, now)}`,
    why:
      reason === 'scheduled'
        ? ''
        : `${capital(reasonText(reason, 'your number'))}${until === undefined ? '' : ' until then'}.`,
  }
}

/** The lower, the sooner a wait can end: one without a known end may end now, and a text behind another never goes out before that one. */
function rankOf({ reason, until }: Waiting): string {
  if (reason === 'scheduled') return `2 ${until}`
  return until === undefined && reason !== 'order' ? '0' : `1 ${until ?? '~'}`
}
