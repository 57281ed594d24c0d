import { readOldestMessage } from '../../messages/gateway-state/queue.ts'
import type { ConditionSource } from './condition.ts'

const MINUTE_MS = 60_000
/** The contract limits a number to 40 messages a minute, so messages above that wait. */
const MAX_AGE_MS = 10 * MINUTE_MS

/** A message has waited for a long time. */
export const queueOld: ConditionSource = {
  alert: 'queue_old',
  check: 'queue',
  allWell: 'no message has waited for more than 10 minutes',
  find: async (gateway) => {
    const oldest = await readOldestMessage(gateway)
    if (oldest === null || oldest.waitingMs <= MAX_AGE_MS) return []
    const { messageId, tenantId, waitingMs, since } = oldest
    const minutes = Math.floor(waitingMs / MINUTE_MS)
    return [
      {
        level: 'warn',
        what: `Message ${messageId} has waited for ${minutes} minutes to be sent, and is the oldest of the queue`,
        fix: 'sgw status says what the messages of each tenant are waiting for.',
        overText: `Resolved: no message has been waiting for more than 10 minutes; the alert began with ${messageId}.`,
        detail: { messageId, tenantId, waitingSeconds: Math.floor(waitingMs / 1000) },
        since,
      },
    ]
  },
}
