import { isoTime } from '../../core/clock.ts'
import { nextDelays } from '../../messages/webhooks/retry-schedule.ts'
import type { Gateway } from '../../messages/gateway.ts'
import { type PostResult, WebhookPoster } from '../../net/outbound/webhook-poster.ts'

/**
 * Milliseconds from the failure of attempt `attemptNumber` to the next one: the policy `short` of webhooks without its
 * jitter. Null if none follows.
 */
export const retryMs = (attemptNumber: number): number | null => nextDelays(attemptNumber, 0.5, null).short

export interface AlertPoster {
  post(body: string): Promise<PostResult>
}

/** Creates a poster that guards the address like a webhook's. Its posts do not count as webhooks, because the address is the operator's. */
export function createAlertPoster({ guard, clock }: Pick<Gateway, 'guard' | 'clock'>, url: string): AlertPoster {
  const poster = new WebhookPoster({ guard, clock })
  return { post: (body) => poster.post({ url, tenantId: 'operator', body, headers: {} }) }
}

/** Posts an alert that is marked as a test. */
export function postTestAlert(context: Pick<Gateway, 'guard' | 'clock'>, url: string): Promise<PostResult> {
  const since = isoTime(context.clock.now())
  const text = 'This is a test alert from sgw: nothing is wrong.'
  const body = JSON.stringify({ text, alert: 'test', state: 'firing', since, detail: {} })
  return createAlertPoster(context, url).post(body)
}
