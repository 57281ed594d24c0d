import type { IncomingHttpHeaders } from 'node:http'

/**
 * Checks that a new webhook belongs to the subscriber (RingCentral developer guide, "Creating webhooks", "Validation
 * token"). The webhook must answer an empty POST with `Validation-Token` within 3 s: with status 200, the same header, and
 * at most 1024 bytes in total, which `fetch` does not count.
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

interface Answer {
  status: number
  headers: IncomingHttpHeaders
  /** Status line, headers and body. */
  bytes: number
}

/** Resolves when the answer is complete or larger than it may be. */
function exchange(
  { address, verificationToken, timeoutMs }: HandshakeRequest,
  token: string,
): Promise<Answer | 'unreachable' | 'bad-certificate'> {
  const { promise, resolve } = Promise.withResolvers<Answer | 'unreachable' | 'bad-certificate'>()
  const { request } = process.getBuiltinModule(address.protocol === 'http:' ? 'node:http' : 'node:https')
  const headers = {
    'User-Agent': 'RingCentral-Webhook/8.3',
    'Content-Type': 'application/json',
    'Content-Length': 0,
    'Validation-Token': token,
    ...(verificationToken === null ? {} : { 'Verification-Token': verificationToken }),
  }
  const signal = AbortSignal.timeout(timeoutMs)
  const sent = request(
    address,
    { method: 'POST', agent: false, minVersion: 'TLSv1.2', headers, signal },
    (response) => {
      const { socket, statusCode: status = 0 } = response
      const finish = (): void => resolve({ status, headers: response.headers, bytes: socket.bytesRead })
      response.on('data', () => socket.bytesRead > MAX_RESPONSE_BYTES && finish())
      response.on('end', finish)
    },
  )
  sent.on('error', (error) => resolve(isCertificateError(error) ? 'bad-certificate' : 'unreachable'))
  // A response may end before it is complete.
  sent.on('close', () => resolve('unreachable'))
  sent.end()
  return promise.finally(() => sent.destroy())
}

const isCertificateError = (error: NodeJS.ErrnoException): boolean =>
  /CERT|SELF_SIGNED|UNABLE_TO/.test(error.code ?? '')
