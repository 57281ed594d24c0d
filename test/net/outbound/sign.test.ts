import { expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import { webhookSecret } from '../../../src/core/secrets.ts'
import { signedHeaders } from '../../../src/net/outbound/sign.ts'

const key = new Uint8Array(32).map((_, index) => index * 7)
const secret = webhookSecret(key)
const input = {
  secret,
  deliveryId: 'msg_0123456789ab:app_0123456789abcdef',
  timestampSeconds: 1_760_000_000,
  body: '{"body":"Grüße 😀"}',
}

test('the contract’s signature uses the complete secret as key and signs the timestamp', () => {
  const expected = createHmac('sha256', secret).update(`1760000000.${input.body}`).digest('hex')
  expect(signedHeaders(input)).toMatchObject({
    'X-Gateway-Timestamp': '1760000000',
    'X-Gateway-Signature': `sha256=${expected}`,
  })
})

test('the Standard Webhooks signature uses the decoded secret as key and signs the id', () => {
  const expected = createHmac('sha256', key).update(`${input.deliveryId}.1760000000.${input.body}`).digest('base64')
  expect(signedHeaders(input)).toMatchObject({
    'webhook-id': input.deliveryId,
    'webhook-timestamp': '1760000000',
    'webhook-signature': `v1,${expected}`,
  })
})

test('the signature equals the example of the Standard Webhooks library', () => {
  const headers = signedHeaders({
    secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
    deliveryId: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    timestampSeconds: 1_614_265_330,
    body: '{"test": 2432232314}',
  })
  expect(headers['webhook-signature']).toBe('v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=')
})

test('there are five headers, and none contains the secret', () => {
  const headers = signedHeaders(input)
  expect(Object.keys(headers)).toHaveLength(5)
  expect(JSON.stringify(headers)).not.toContain(secret.slice(6))
})

test('a secret of another form is refused', () => {
  expect(() => signedHeaders({ ...input, secret: 'sgw_abc' })).toThrow('whsec_')
})
