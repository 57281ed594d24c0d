import { createHmac } from 'node:crypto'

const PREFIX = 'whsec_'

/**
 * The headers with which a receiver verifies a delivery. There are two signatures with one secret:
 * - the contract's `X-Gateway-Timestamp` (Unix seconds) and `X-Gateway-Signature` (`sha256=` + hex HMAC-SHA-256 of
 *   `<timestamp>.<raw body>`), keyed by the complete text `whsec_…`;
 * - those of Standard Webhooks (standardwebhooks.com): `webhook-id`, `webhook-timestamp` and `webhook-signature`
 *   (`v1,` + base64 HMAC-SHA-256 of `<id>.<timestamp>.<raw body>`), keyed by the bytes that the secret encodes.
 */
export function signedHeaders(input: SignInput): Record<string, string> {
  const { secret, deliveryId, timestampSeconds, body } = input
  const timestamp = String(timestampSeconds)
  return {
    'X-Gateway-Timestamp': timestamp,
    'X-Gateway-Signature': `sha256=${hmac(secret, `${timestamp}.${body}`).toString('hex')}`,
    'webhook-id': deliveryId,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${hmac(keyBytes(secret), `${deliveryId}.${timestamp}.${body}`).toString('base64')}`,
  }
}

export interface SignInput {
  /** `whsec_` + base64 of the key. */
  secret: string
  deliveryId: string
  timestampSeconds: number
  /** Exactly the text that is posted. */
  body: string
}

const hmac = (key: string | Uint8Array, text: string): Buffer => createHmac('sha256', key).update(text).digest()

function keyBytes(secret: string): Uint8Array {
  if (!secret.startsWith(PREFIX)) throw new Error('Cannot sign a delivery: the secret does not start with whsec_')
  return Buffer.from(secret.slice(PREFIX.length), 'base64')
}
