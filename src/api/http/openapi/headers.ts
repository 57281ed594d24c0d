import type { Json } from './named-schemas.ts'

/** The headers of answers, each once in the document. */
export const HEADERS = {
  'X-Request-Id': {
    description: 'The id of the request in the log of the gateway; a short id from the client is kept',
    schema: { type: 'string', examples: ['req_0123456789abcdef'] },
  },
  RateLimit: {
    description: 'How many requests the key has left (`r`), and the seconds until more are allowed (`t`)',
    schema: { type: 'string', examples: ['"key";r=97;t=42'] },
  },
  'RateLimit-Policy': {
    description: 'How many requests (`q`) the key may make in a window of seconds (`w`)',
    schema: { type: 'string', examples: ['"key";q=100;w=60'] },
  },
  'Retry-After': { description: 'Seconds to wait', schema: { type: 'integer', minimum: 0, examples: [42] } },
  'Idempotent-Replayed': {
    description: 'Only on an answer that repeats the first answer to its `Idempotency-Key`',
    schema: { type: 'string', enum: ['true'] },
  },
  'X-Ignored-Fields': {
    description:
      'Ignored fields of the request that resemble a known one (`send_at`) or belong to other APIs (`mediaUrl`)',
    schema: { type: 'string', examples: ['send_at'] },
  },
  'WWW-Authenticate': { description: 'The scheme of authentication', schema: { type: 'string', enum: ['Bearer'] } },
  Location: { description: 'Where to continue', schema: { type: 'string', format: 'uri' } },
  'Validation-Token': { description: "The handshake's, repeated", schema: { type: 'string' } },
} as const satisfies Record<string, Json>

export type HeaderName = keyof typeof HEADERS

/** References to these headers. */
export const headers = (names: readonly HeaderName[]): Json =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
