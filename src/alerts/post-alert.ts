import { isoTime } from '../core/clock.ts'
import { nextDelays } from '../deliveries/retry-schedule.ts'
import type { Gateway } from '../gateway.ts'
import { type PostResult, WebhookPoster } from '../outbound/post-json.ts'

/** How long after attempt `attemptNumber`, which failed, the next one is made: by the policy `short` of webhooks, without its jitter. Null: never. */
export const retryMs = (attemptNumber: number): number | null => nextDelays(attemptNumber, 0.5, null).short

export interface AlertPoster {
  post(body: string): Promise<PostResult>
}

/** Guarded like a webhook. It is the operator's own address: its posts are not counted as webhooks. */
export function createAlertPoster({ guard, clock }: Pick<Gateway, 'guard' | 'clock'>, url: string): AlertPoster {
  const poster = new WebhookPoster({ guard, clock })
  return { post: (body) => poster.post({ url, tenantId: 'operator', body, headers: {} }) }
}

/** Posts an alert that says that it is a test. */
export function postTestAlert(context: Pick<Gateway, 'guard' | 'clock'>, url: string): Promise<PostResult> {
  const since = isoTime(context.clock.now())
  const text = 'This is a test of the alerts of sgw: nothing is wrong.'
  const body = JSON.stringify({ text, alert: 'test', state: 'firing', since, detail: {} })
  return createAlertPoster(context, url).post(body)
}
