import type { WebhookBody } from './event-types.ts'
import { parse } from './requester.ts'
import { SgwError } from './sgw-error.ts'

export interface WebhookRequest {
  /** The raw body, exactly as received: not parsed and serialized again. */
  body: string | Uint8Array
  /** Of a `Request`, or of Node's `IncomingMessage`. */
  headers: WebhookHeaders
  /** `whsec_…`. */
  secret: string
  /** How far the signature's time may be from now. The default is 300. */
  toleranceSeconds?: number | undefined
}

/** A `Headers`, or an object with the values by name. */
export type WebhookHeaders =
  | { get(name: string): string | null }
  | Readonly<Record<string, string | readonly string[] | undefined>>

type HeaderOf = (name: string) => string

/**
 * Resolves with a webhook's event if the gateway recently signed it with this secret. Otherwise, and for wrong arguments, throws an
 * `SgwError`: then answer 401. Both signatures are verified, the gateway's own and that of Standard Webhooks; one of them may be missing.
 */
export async function verifyWebhook(request: WebhookRequest): Promise<WebhookBody> {
  try {
    return await verified(request)
  } catch (cause) {
    if (cause instanceof SgwError) throw cause
    throw new SgwError(MISUSE, 0, null, null, { cause })
  }
}

const MISUSE = 'The webhook cannot be verified: pass its raw body (not parsed), its headers and its secret'

async function verified({ body, headers, secret, toleranceSeconds = 300 }: WebhookRequest): Promise<WebhookBody> {
  const key = typeof secret === 'string' ? secret.trim() : ''
  // Anybody can sign with an empty secret.
  if (/^(whsec_)?$/.test(key)) throw new SgwError('The secret of the webhook is empty')
  const header = headerOf(headers)
  // `decode` takes undefined, as no bytes, but not null.
  const text = typeof body === 'string' ? body : decoder.decode(body ?? (null as never))
  const signatures = [own(header, key), standard(header, key)].filter(([given]) => given.length > 0)
  if (signatures.length === 0) throw new SgwError('The webhook has no signature')
  for (const [given, timestamp, start, bytes] of signatures) {
    if (!(Math.abs(Date.now() / 1000 - Number(timestamp)) <= toleranceSeconds))
      throw new SgwError(`The time of the webhook is not within ${toleranceSeconds} seconds`)
    if (!(await isSigned(bytes, encoder.encode(`${start}${timestamp}.${text}`), given)))
      throw new SgwError('The signature of the webhook is wrong')
  }
  const event = parse(text)
  if (event === undefined) throw new SgwError('The body of the webhook is not JSON')
  return event as WebhookBody
}

type Bytes = Uint8Array<ArrayBuffer>

/** `given`: the request's signatures, one of which must be correct. The signed text is start, timestamp, a dot and body. */
type Signature = [given: Bytes[], timestamp: string, start: string, key: Bytes]

const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

/** `X-Gateway-Signature`: hex, keyed by the text of the secret. */
function own(header: HeaderOf, secret: string): Signature {
  const [, hex] = /^sha256=([\da-f]{64})$/i.exec(header('x-gateway-signature')) ?? []
  const given = hex ? [Uint8Array.from(hex.match(/../g) ?? [], (pair) => parseInt(pair, 16))] : []
  return [given, header('x-gateway-timestamp'), '', encoder.encode(secret)]
}

/** Standard Webhooks: base64, keyed by the bytes that the secret encodes, several while a secret is replaced. */
function standard(header: HeaderOf, secret: string): Signature {
  const texts = header('webhook-signature').split(' ')
  const given = texts.filter((text) => /^v1,[A-Za-z\d+/]{43}=$/.test(text)).map((text) => bytesOf(text.slice(3)))
  return [given, header('webhook-timestamp'), `${header('webhook-id')}.`, bytesOf(secret.replace(/^whsec_/, ''))]
}

function headerOf(headers: WebhookHeaders): HeaderOf {
  if (typeof headers['get'] === 'function') return (name) => (headers as Headers).get(name) ?? ''
  const values = new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), String(value ?? '')]))
  return (name) => values.get(name) ?? ''
}

/** WebCrypto compares in constant time. */
async function isSigned(secret: Bytes, text: Bytes, given: Bytes[]): Promise<boolean> {
  const { subtle } = crypto
  const key = await subtle.importKey('raw', secret, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify'])
  const results = given.map((bytes) => subtle.verify('HMAC', key, bytes, text))
  return (await Promise.all(results)).includes(true)
}

function bytesOf(base64: string): Bytes {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))
  } catch {
    throw new SgwError('The secret of the webhook is not base64')
  }
}
