import { describe, expect, test } from 'bun:test'
import { Sgw, SgwError, type WebhookHeaders, verifyWebhook } from '../../src/client/client.ts'
import { signedHeaders } from '../../src/net/outbound/sign.ts'
import { createWorld } from '../support/world.ts'

const secret = `whsec_${new Uint8Array(32).fill(7).toBase64()}`
const event = { type: 'sms_inbound', messageId: 'msg_1', from: '+15555550199', body: 'Grüße 👋' }
const body = JSON.stringify(event)
const nowSeconds = Math.floor(Date.now() / 1000)
const MISUSE = 'The webhook cannot be verified: pass its raw body (not parsed), its headers and its secret'

describe('a webhook', () => {
  test('of the gateway itself is verified', async () => {
    await using world = await createWorld()
    const received = Promise.withResolvers<{ headers: Headers; body: string }>()
    using receiver = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      fetch: async (request) => {
        received.resolve({ headers: request.headers, body: await request.text() })
        return new Response()
      },
    })
    const sgw = new Sgw({ baseUrl: world.url, apiKey: world.key })
    await sgw.apps.update(world.app.appId, { webhookUrl: receiver.url.href })
    expect(await sgw.apps.testWebhook(world.app.appId)).toEqual({ ok: true, body: '' })
    const verified = await verifyWebhook({ ...(await received.promise), secret: world.app.webhookSecret })
    expect(verified).toEqual({ type: 'test', source: 'sgw', timestamp: expect.any(String) })
  })

  test('is accepted as text and as bytes, with headers of either kind', async () => {
    const headers = signed()
    const bytes = new TextEncoder().encode(body)
    const kinds = [
      headers,
      new Headers(headers),
      lowered(headers),
      { ...lowered(headers), host: ['a'], age: undefined },
    ]
    for (const each of kinds) {
      expect(await verify({ headers: each })).toEqual(event)
      expect(await verify({ headers: each, body: bytes })).toEqual(event)
    }
  })

  test('needs one signature, and all that it has must be right', async () => {
    const { own, standard } = halves()
    const wrong = signed({ secret: `whsec_${new Uint8Array(32).fill(8).toBase64()}` })
    expect(await verify({ headers: own })).toEqual(event)
    expect(await verify({ headers: standard })).toEqual(event)
    await expectRefused({ headers: {} }, 'The webhook has no signature')
    await expectRefused({ headers: { ...own, 'X-Gateway-Signature': 'sha256=xyz' } }, 'The webhook has no signature')
    for (const each of [wrong, { ...own, ...halves(wrong).standard }, { ...standard, ...halves(wrong).own }])
      await expectRefused({ headers: each }, 'The signature of the webhook is wrong')
  })

  test('may have several signatures of Standard Webhooks, of which one is right', async () => {
    const { standard } = halves()
    const other = halves(signed({ secret: `whsec_${new Uint8Array(32).fill(8).toBase64()}` })).standard
    const both = `${other['webhook-signature']} ${standard['webhook-signature']}`
    expect(await verify({ headers: { ...standard, 'webhook-signature': both } })).toEqual(event)
    const twice = `${other['webhook-signature']} ${other['webhook-signature']}`
    await expectRefused(
      { headers: { ...standard, 'webhook-signature': twice } },
      'The signature of the webhook is wrong',
    )
  })

  test.each(['own', 'standard'] as const)(
    'with another body, id or time is refused by its %s signature',
    async (half) => {
      const headers = halves()[half]
      await expectRefused({ headers, body: `${body} ` }, 'The signature of the webhook is wrong')
      const changed = { ...headers, 'webhook-id': 'other', 'X-Gateway-Timestamp': String(nowSeconds - 1) }
      await expectRefused({ headers: changed }, 'The signature of the webhook is wrong')
    },
  )

  test.each(['own', 'standard'] as const)(
    'is refused when the time of its %s signature is too far from now',
    async (half) => {
      for (const seconds of [-310, 310])
        await expectRefused(
          { headers: halves(signed({ timestampSeconds: nowSeconds + seconds }))[half] },
          'The time of the webhook is not within 300 seconds',
        )
      expect(await verify({ headers: halves(signed({ timestampSeconds: nowSeconds - 290 }))[half] })).toEqual(event)
      const old = signed({ timestampSeconds: nowSeconds - 3600 })
      expect(await verify({ headers: halves(old)[half], toleranceSeconds: 4000 })).toEqual(event)
      const withoutTime = { ...halves()[half], 'webhook-timestamp': '', 'X-Gateway-Timestamp': '' }
      await expectRefused({ headers: withoutTime }, 'The time of the webhook is not within 300 seconds')
    },
  )

  test('is refused if its body is not JSON or the secret is none', async () => {
    await expectRefused({ headers: signed({ body: 'x' }), body: 'x' }, 'The body of the webhook is not JSON')
    await expectRefused({ secret: 'whsec_*' }, 'The secret of the webhook is not base64')
    const unsigned = { headers: halves(signed({ secret: 'whsec_' })).own }
    for (const none of ['', 'whsec_'])
      await expectRefused({ ...unsigned, secret: none }, 'The secret of the webhook is empty')
  })
})

describe('verifyWebhook throws an SgwError, never another error,', () => {
  const wrong: [name: string, input: object, message: string][] = [
    ['without a secret', { secret: undefined }, 'The secret of the webhook is empty'],
    ['with null as secret', { secret: null }, 'The secret of the webhook is empty'],
    ['with a blank secret', { secret: ' \n' }, 'The secret of the webhook is empty'],
    ['with a blank secret after its prefix', { secret: 'whsec_ ' }, 'The secret of the webhook is empty'],
    ['with a secret that is no base64', { secret: 'whsec_…' }, 'The secret of the webhook is not base64'],
    ['with a secret that is no text', { secret: 5 }, 'The secret of the webhook is empty'],
    ['with a parsed body', { body: event }, MISUSE],
    ['without a body', { body: undefined }, MISUSE],
    ['with null as body', { body: null }, MISUSE],
    ['without headers', { headers: undefined }, MISUSE],
    ['with null as headers', { headers: null }, MISUSE],
    ['with headers that give numbers', { headers: { get: () => 5 } }, MISUSE],
    ['with a text as headers', { headers: 'webhook-id: 1' }, 'The webhook has no signature'],
    ['with no number as tolerance', { toleranceSeconds: NaN }, 'The time of the webhook is not within NaN seconds'],
  ]
  test.each(wrong)('%s', (_name, input, message) => expectRefused(input, message))

  test('without an argument', async () => {
    for (const request of [undefined, null, 5]) {
      const error: unknown = await verifyWebhook(request as never).catch((thrown: unknown) => thrown)
      expect(error).toBeInstanceOf(SgwError)
    }
  })

  test('whoever signed with a blank or absent secret', async () => {
    for (const blank of ['', ' ', 'undefined', 'null']) {
      const headers = halves(signed({ secret: `whsec_${blank}` })).own
      for (const given of [undefined, null, blank.replace(/^[a-z]+$/, '')])
        await expectRefused({ headers, secret: given as never }, 'The secret of the webhook is empty')
    }
  })
})

test('a line break after the secret, as files have it, does not count', async () => {
  expect(await verify({ secret: ` ${secret}\n` })).toEqual(event)
})

type Input = Partial<Parameters<typeof verifyWebhook>[0]>

const verify = (input: Input): Promise<unknown> => verifyWebhook({ body, headers: signed(), secret, ...input })

async function expectRefused(input: Input, message: string): Promise<void> {
  const error: unknown = await verify(input).catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(SgwError)
  expect(error).toMatchObject({ message, status: 0 })
}

const signed = (input: Partial<Parameters<typeof signedHeaders>[0]> = {}): Record<string, string> =>
  signedHeaders({ secret, deliveryId: 'msg_1:app_1', timestampSeconds: nowSeconds, body, ...input })

const lowered = (headers: Record<string, string>): WebhookHeaders =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))

/** The headers of each signature. */
function halves(headers = signed()): Record<'own' | 'standard', Record<string, string>> {
  const of = (start: RegExp) => Object.fromEntries(Object.entries(headers).filter(([name]) => start.test(name)))
  return { own: of(/^X-/), standard: of(/^webhook-/) }
}
