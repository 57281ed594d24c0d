import tls from 'node:tls'
import type { ProviderFailure } from '../../../src/provider/provider.ts'
import type { Fault } from '../../../src/simulator/faults.ts'
import { authority, expired, key, otherName } from '../../provider/ringcentral/certificates.ts'
import { ACCESS_TOKEN, clientOf, deadPort, failureOf, rawServer } from '../../provider/ringcentral/servers.ts'

/** In real time; everything else follows the manual clock. It must be longer than any answer on a busy machine. */
export const PROVIDER_TIMEOUT_MS = 10_000
/** For faults without an answer. */
const SHORT_TIMEOUT_MS = 1000
export const RETRY_AFTER_S = 20

/** One way in which a call can fail, on the network or at the provider. */
export interface ProviderFault {
  name: string
  /** Returns the failure of dialling, before anything is sent. */
  dial?: () => Promise<ProviderFailure>
  /** Returns the simulator's fault. It may depend on the name of the route. */
  play?: (route: string) => Fault
  /** The fault never ends. */
  always?: boolean
  /** The call ends with its timeout. */
  isSilent?: boolean
}

/** The timeout of a call with this fault. */
export const timeoutOf = (fault: ProviderFault): number =>
  fault.isSilent === true ? SHORT_TIMEOUT_MS : PROVIDER_TIMEOUT_MS

const respond =
  (status: number, other: Partial<Extract<Fault, { kind: 'respond' }>> = {}) =>
  (): Fault => ({
    kind: 'respond',
    status,
    ...other,
  })
const MSG_245 = {
  errorCode: 'MSG-245',
  message: 'Parameter [from] value is invalid',
  errors: [{ errorCode: 'MSG-245', message: 'Parameter [from] value is invalid' }],
}

/** What a firewall, a CDN or a company's proxy says. */
const PAGE = '<html><head><title>403 Forbidden</title></head><body><h1>Request blocked</h1></body></html>'

/** Answers without an `id` lack their main field instead. */
const withoutId = (route: string): Fault =>
  route === 'token' || route === 'phone-number'
    ? { kind: 'accept-then-respond', status: 200, body: {} }
    : { kind: 'no-id' }

export const FAULTS: readonly ProviderFault[] = [
  { name: 'refused', dial: async () => dial(`http://127.0.0.1:${await deadPort()}`) },
  // A label of 64 characters fails in the resolver library, without a query to a name server.
  { name: 'DNS failure', dial: () => dial(`http://${'a'.repeat(64)}.invalid`) },
  { name: 'TLS name mismatch', dial: () => dialTls(otherName) },
  { name: 'expired certificate', dial: () => dialTls(expired) },
  { name: 'reset before read', play: () => ({ kind: 'reset' }) },
  { name: 'reset after accept', play: () => ({ kind: 'accept-then-reset' }) },
  { name: 'close after accept', play: () => ({ kind: 'accept-then-close' }) },
  { name: 'timeout before accept', play: () => ({ kind: 'hang' }), isSilent: true },
  { name: 'timeout after accept', play: () => ({ kind: 'accept-then-hang' }), isSilent: true },
  { name: 'dripping headers', play: () => ({ kind: 'drip-headers' }), isSilent: true },
  { name: 'dripping body', play: () => ({ kind: 'drip-body' }), isSilent: true },
  { name: '200 without id', play: withoutId },
  { name: '200 with HTML', play: () => ({ kind: 'html' }) },
  { name: '200 with truncated JSON', play: () => ({ kind: 'truncated' }) },
  { name: '400 MSG-245', play: respond(400, { body: MSG_245 }) },
  { name: '401 once', play: respond(401) },
  { name: '401 always', play: respond(401), always: true },
  { name: '403', play: respond(403) },
  { name: '403 with HTML', play: respond(403, { body: PAGE, headers: { 'Content-Type': 'text/html' } }) },
  { name: '404', play: respond(404) },
  { name: '429 with Retry-After', play: respond(429, { headers: { 'Retry-After': String(RETRY_AFTER_S) } }) },
  { name: '429 without Retry-After', play: respond(429, { headers: { 'Retry-After': '' } }) },
  { name: '500', play: respond(500) },
  { name: '502 after accept', play: () => ({ kind: 'accept-then-respond', status: 502 }) },
  { name: '503', play: respond(503) },
]

/** A method of the provider, and the simulator's route that serves it. */
export interface FaultyCall {
  method: 'sendSms' | 'refresh' | 'exchangeCode' | 'listNumbers' | 'createSubscription' | 'renewSubscription'
  route: string
}

async function dial(url: string, ca?: string): Promise<ProviderFailure> {
  const client = clientOf(url, ca === undefined ? {} : { ca })
  return failureOf(await client.getExtension(ACCESS_TOKEN))
}

async function dialTls(cert: string): Promise<ProviderFailure> {
  await using server = await rawServer(() => {}, tls.createServer({ key, cert }))
  return await dial(`https://localhost:${server.port}`, authority)
}
