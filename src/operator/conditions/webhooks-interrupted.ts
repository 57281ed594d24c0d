import { isoTime } from '../../core/clock.ts'
import { readUnposted } from '../../messages/webhooks/unposted.ts'
import type { ConditionSource } from './condition.ts'

/** A crash or a takeover interrupted webhooks. A later interruption is a separate alert. */
export const webhooksInterrupted: ConditionSource = {
  alert: 'webhooks_interrupted',
  check: 'webhooks',
  find: async (gateway) => {
    const unposted = await readUnposted(gateway)
    if (unposted === null) return []
    const { count, since, noticedAt } = unposted
    const webhooks = count === 1 ? '1 webhook was interrupted' : `${count} webhooks were interrupted`
    return [
      {
        subject: String(noticedAt),
        level: 'warn',
        what: `${webhooks}, by a crash, a takeover or a failing disk, and may not have arrived`,
        fix: `sgw webhooks recover --since ${isoTime(since)} posts again what failed since then. A retry policy does this automatically.`,
        overText: 'Resolved: the webhooks that were interrupted have been posted again, or a day has passed.',
        detail: { webhooks: count },
        since,
      },
    ]
  },
}
