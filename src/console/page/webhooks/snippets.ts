/** How a receiver checks that a webhook comes from the gateway, ready to copy. The secret is a variable, never a value. */
export const SIGNATURE_SNIPPETS: readonly { name: string; code: string }[] = [
  {
    name: 'TypeScript',
    code: `import { verifyWebhook } from 'sgw/client'

// Throws unless the gateway signed it within
// the last five minutes: answer 401 then.
export const eventOf = async (request: Request) =>
  verifyWebhook({
    body: await request.text(), // as it came, not parsed
    headers: request.headers,
    secret: process.env.SGW_WEBHOOK_SECRET ?? '',
  })`,
  },
  {
    name: 'JavaScript',
    code: `import { createHmac, timingSafeEqual } from 'node:crypto'

// headers: of a Node request. body: as it came, not parsed.
// Answer 401 if this is false.
export function isFromGateway(headers, body, secret = process.env.SGW_WEBHOOK_SECRET) {
  const timestamp = headers['x-gateway-timestamp'] ?? ''
  const isFresh = Math.abs(Date.now() / 1000 - Number(timestamp)) <= 300
  const hmac = createHmac('sha256', secret).update(\`\${timestamp}.\`).update(body)
  const expected = Buffer.from(\`sha256=\${hmac.digest('hex')}\`)
  const given = Buffer.from(headers['x-gateway-signature'] ?? '')
  return isFresh && given.length === expected.length && timingSafeEqual(given, expected)
}`,
  },
  {
    name: 'Python',
    code: `import hashlib, hmac, os, time

SECRET = os.environ["SGW_WEBHOOK_SECRET"]

# body: the bytes as they came, not parsed.
# Answer 401 if this is False.
def is_from_gateway(headers, body: bytes) -> bool:
    timestamp = headers.get("X-Gateway-Timestamp", "")
    if not timestamp.isdecimal() or abs(time.time() - int(timestamp)) > 300:
        return False
    signed = timestamp.encode() + b"." + body
    expected = "sha256=" + hmac.new(SECRET.encode(), signed, hashlib.sha256).hexdigest()
    return hmac.compare_digest(expected.encode(), headers.get("X-Gateway-Signature", "").encode())`,
  },
]

/** The request that makes one more attempt, for a shell. The key is a variable, never the session's token. */
export const redeliverAsCurl = (deliveryId: string, origin: string): string =>
  `curl -s -X POST ${origin}/v1/webhook-deliveries/${encodeURIComponent(deliveryId)}/redeliver -H "Authorization: Bearer $SGW_KEY"`

/** The same with the typed client. */
export const redeliverAsTypeScript = (deliveryId: string, origin: string): string =>
  [
    "import { Sgw } from 'sgw/client'",
    '',
    `const sgw = new Sgw({ baseUrl: '${origin}', apiKey: process.env.SGW_KEY ?? '' })`,
    `await sgw.deliveries.redeliver('${deliveryId}')`,
  ].join('\n')
