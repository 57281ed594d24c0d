const MAX_TOKEN_LENGTH = 450
const VISIBLE_ASCII = /^[\x21-\x7e]+$/

/**
 * Answers the provider's handshake while it creates a subscription: an empty 200 that repeats the `Validation-Token`
 * header. The answer may have at most 1024 bytes with its headers (RingCentral: "Receiving webhook notifications").
 */
export function handshakeAnswer(request: Request): Response | null {
  const token = request.headers.get('validation-token')
  if (token === null || token === '') return null
  if (token.length > MAX_TOKEN_LENGTH || !VISIBLE_ASCII.test(token)) return null
  return new Response(null, { status: 200, headers: { 'validation-token': token, 'content-type': 'application/json' } })
}
