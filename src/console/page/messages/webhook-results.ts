import type { DeliveryAttempt, MessageWebhooks } from '../../../client/client.ts'

/** The last attempt of each delivery. The attempts are given oldest first. */
export const lastAttempts = (attempts: readonly DeliveryAttempt[]): DeliveryAttempt[] => [
  ...new Map(attempts.map((attempt) => [attempt.deliveryId, attempt])).values(),
]

/** The last attempts of the deliveries that failed. */
export const failedOf = (attempts: readonly DeliveryAttempt[]): DeliveryAttempt[] =>
  lastAttempts(attempts).filter(({ outcome }) => outcome !== 'success')

/** `webhook answered 500`; null if none failed. The status code is that of the newest attempt. */
export function failedText({ failed, lastStatusCode }: MessageWebhooks): string | null {
  if (failed === 0) return null
  if (failed > 1) return `${failed} webhooks failed`
  return lastStatusCode !== null && lastStatusCode >= 300 ? `webhook answered ${lastStatusCode}` : 'webhook failed'
}
