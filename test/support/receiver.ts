import { createHmac } from 'node:crypto'
import { Webhook } from 'standardwebhooks'
import { until } from './world.ts'

/** A received webhook POST. */
export interface Received {
  method: string
  path: string
  headers: Record<string, string>
  /** Byte for byte, as text. */
  raw: string
  /** `raw` as JSON. */
  body: Record<string, unknown>
}

/** A destination that records its requests. Its answer can be changed at any time. */
export interface Receiver extends AsyncDisposable {
  url: string
  requests: Received[]
  answer: (request: Received) => Response | Promise<Response>
  /** Resolves with the first `count` requests. */
  received(count: number, withinMs?: number): Promise<Received[]>
}

export function startReceiver(status = 200): Receiver {
  const requests: Received[] = []
  const receiver: Receiver = {
    url: '',
    requests,
    answer: () => new Response('thanks', { status }),
    received: (count, withinMs) => until(() => (requests.length >= count ? requests.slice(0, count) : null), withinMs),
    async [Symbol.asyncDispose]() {
      await server.stop(true)
    },
  }
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: async (request) => {
      const raw = await request.text()
      const one = {
        method: request.method,
        path: new URL(request.url).pathname,
        headers: request.headers.toJSON(),
        raw,
        body: JSON.parse(raw),
      }
      requests.push(one)
      return receiver.answer(one)
    },
  })
  receiver.url = `http://127.0.0.1:${server.port}/hook`
  return receiver
}

/** Verifies both signatures, that of Standard Webhooks with its own library. Throws if one is wrong. */
export function verifySignatures(request: Received, secret: string): void {
  new Webhook(secret).verify(request.raw, request.headers)
  const timestamp = request.headers['x-gateway-timestamp'] ?? ''
  const expected = `sha256=${createHmac('sha256', secret).update(`${timestamp}.${request.raw}`).digest('hex')}`
  if (request.headers['x-gateway-signature'] !== expected) throw new Error('X-Gateway-Signature is wrong')
  if (Math.abs(Date.now() / 1000 - Number(timestamp)) > 300) throw new Error('X-Gateway-Timestamp is too old')
}
