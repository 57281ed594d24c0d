import { connect as connectTcp, isIP, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { readRawResponse, type RawResponse } from './raw-response.ts'

/**
 * Checks that a new webhook belongs to the subscriber (RingCentral developer guide, "Creating webhooks", "Validation
 * token"). The webhook must answer an empty POST with `Validation-Token` within 3 s: with status 200, the same header, and
 * at most 1024 bytes in total. A raw socket is used, because `fetch` does not report how many bytes were received.
 */
export async function handshake(request: HandshakeRequest): Promise<HandshakeOutcome> {
  const token = crypto.randomUUID().replaceAll('-', '')
  const response = await exchange(request, token)
  if (response === 'unreachable' || response === 'bad-certificate') return response
  if (response.status !== 200) return { wrongStatus: response.status }
  const tooBig = response.bytes > MAX_RESPONSE_BYTES
  if (tooBig || response.headers['content-type'] === undefined) return 'invalid-response'
  return response.headers['validation-token'] === token ? 'ok' : 'not-echoed'
}

export interface HandshakeRequest {
  address: URL
  verificationToken: string | null
  timeoutMs: number
}

export type HandshakeOutcome =
  | 'ok'
  | 'unreachable'
  | 'bad-certificate'
  | 'invalid-response'
  | 'not-echoed'
  | { wrongStatus: number }

const MAX_RESPONSE_BYTES = 1024

function exchange(
  { address, verificationToken, timeoutMs }: HandshakeRequest,
  token: string,
): Promise<RawResponse | 'unreachable' | 'bad-certificate'> {
  return new Promise((resolve) => {
    const { promise, ...reader } = readRawResponse(MAX_RESPONSE_BYTES)
    const socket = dial(address, () => socket.write(requestText(address, token, verificationToken)))
    const timer = setTimeout(() => finish('unreachable'), timeoutMs)
    const finish = (outcome: RawResponse | 'unreachable' | 'bad-certificate'): void => {
      clearTimeout(timer)
      socket.destroy()
      resolve(outcome)
    }
    socket.on('data', reader.data)
    socket.on('end', reader.end)
    socket.on('close', reader.end)
    socket.on('error', (error) => finish(isCertificateError(error) ? 'bad-certificate' : 'unreachable'))
    promise.then(finish, () => finish('unreachable'))
  })
}

function dial(address: URL, onOpen: () => void): Socket {
  const host = address.hostname.replace(/^\[|\]$/g, '')
  if (address.protocol === 'http:') return connectTcp({ host, port: Number(address.port || 80) }, onOpen)
  // An IP address must not be sent as a server name (RFC 6066, section 3).
  const name = isIP(host) === 0 ? { servername: host } : {}
  return connectTls({ host, port: Number(address.port || 443), minVersion: 'TLSv1.2', ...name }, onOpen)
}

function requestText(address: URL, token: string, verificationToken: string | null): string {
  const lines = [
    `POST ${address.pathname}${address.search} HTTP/1.1`,
    `Host: ${address.host}`,
    'User-Agent: RingCentral-Webhook/8.3',
    'Content-Type: application/json',
    'Content-Length: 0',
    `Validation-Token: ${token}`,
    ...(verificationToken === null ? [] : [`Verification-Token: ${verificationToken}`]),
  ]
  return `${lines.join('\r\n')}\r\n\r\n`
}

const isCertificateError = (error: NodeJS.ErrnoException): boolean =>
  /CERT|SELF_SIGNED|UNABLE_TO/.test(error.code ?? '')
