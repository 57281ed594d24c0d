import type { DeliveryAttempt, DeliveryOutcome, RetryPolicy, WebhookEventType } from '../../../client/client.ts'

/** How an attempt ended, in a word or two. */
export const OUTCOMES: Readonly<Record<DeliveryOutcome, string>> = {
  success: 'Delivered',
  http_error: 'Error answer',
  timeout: 'Timed out',
  network_error: 'Not reached',
}

export const EVENTS: Readonly<Record<WebhookEventType, string>> = {
  sms_inbound: 'Received text',
  sms_status: 'Sent or failed',
  sms_delivery: 'Delivered or not',
  opt_out: 'Opt-out',
}

/** What happens after a failure, with the times in docs/receive.md. */
export const POLICIES: Readonly<Record<RetryPolicy, string>> = {
  none: 'It is not tried again automatically.',
  short: 'It is tried again 5 times, in about 43 minutes.',
  standard: 'It is tried again 9 times, in about three days.',
}
const RETRIES: Readonly<Record<RetryPolicy, number>> = { none: 0, short: 5, standard: 9 }

/** What the gateway does after a failed attempt. If a destination is gone, its retries end. */
export function retryText(policy: RetryPolicy, { attemptNumber, statusCode }: DeliveryAttempt): string {
  const isOver = statusCode === 410 || attemptNumber > RETRIES[policy]
  return isOver ? POLICIES.none : POLICIES[policy]
}

/** Which event a delivery is of: `<message>:<destination>` is a received text, others name it. */
export function eventOf({ deliveryId }: Pick<DeliveryAttempt, 'deliveryId'>): string {
  const name = eventNameOf(deliveryId)
  return name in EVENTS ? EVENTS[name as WebhookEventType] : name
}

export const eventNameOf = (deliveryId: string): string => deliveryId.split(':')[2] ?? 'sms_inbound'

/** `answered 500`, the reason of a failed attempt in a row; '' if the outcome says it. */
export function shortReason({ outcome, statusCode, errorClass }: DeliveryAttempt): string {
  if (outcome === 'success') return ''
  if (statusCode !== undefined) return `answered ${statusCode}`
  if (outcome === 'timeout') return 'no answer in 5 s'
  return SHORT_CLASSES[errorClass ?? ''] ?? 'no connection'
}

const SHORT_CLASSES: Readonly<Partial<Record<string, string>>> = {
  BlockedAddress: 'address not allowed',
  Interrupted: 'gateway stopped',
}

/** What the result of an attempt means, and what a person can do. */
export function adviceOf({ outcome, statusCode = 0, errorClass }: DeliveryAttempt): string {
  if (outcome === 'timeout') return 'An answer must come within 5 seconds: answer first, then do the work.'
  if (outcome === 'network_error') return CLASS_ADVICE[errorClass ?? ''] ?? 'Check that it runs, and its address.'
  if (statusCode === 410) return 'The destination says it is gone: set another address.'
  if (statusCode === 401 || statusCode === 403) return 'Check its secret, and how it verifies the signature.'
  if (statusCode === 404) return 'Nothing answers at this path: check the address.'
  if (statusCode >= 300 && statusCode < 400) return 'Redirects are not followed: set the address that it redirects to.'
  return statusCode >= 500 ? 'Its log has the reason.' : 'It did not accept the webhook.'
}

const CLASS_ADVICE: Readonly<Partial<Record<string, string>>> = {
  BlockedAddress: 'The gateway posts to public addresses only. WEBHOOK_ALLOW_CIDRS can allow others.',
  Interrupted: 'The gateway stopped during the attempt, so it is unknown whether the destination got it.',
}

/** `https://shop.example/hook` without the parts that every address has. */
export const shortUrl = (url: string): string => url.replace(/^https?:\/\//, '')

/** The request that makes one more attempt, for a shell. The key is a variable, never the session's token. */
export const redeliverAsCurl = (deliveryId: string, origin: string): string =>
  `curl -s -X POST ${origin}/v1/webhook-deliveries/${encodeURIComponent(deliveryId)}/redeliver -H "Authorization: Bearer $SGW_KEY"`
