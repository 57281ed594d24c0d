import { z } from 'zod'
import { mediaOf } from './operation.ts'
import type { Json, NamedSchemas } from './named-schemas.ts'
import type { SharedParameters } from './shared-parameters.ts'

/** A body that the gateway POSTs to an app's or a trigger's address. */
export interface PostedEvent {
  /** The name of the webhook, and of the operation in generated servers. */
  name: string
  summary: string
  description: string
  body: z.ZodType
}

const SIGNATURES = z.object({
  'X-Gateway-Timestamp': z.string().meta({ description: 'Unix seconds of the attempt', example: '1795228200' }),
  'X-Gateway-Signature': z.string().meta({
    description: '`sha256=` and the HMAC-SHA256 in hex of `<timestamp>.<raw body>`, keyed by the whole secret',
    pattern: '^sha256=[0-9a-f]{64}$',
    example: `sha256=${'0123456789abcdef'.repeat(4)}`,
  }),
  'webhook-id': z.string().meta({
    description: 'The deliveryId, the same in each attempt',
    example: 'msg_0123456789ab:app_0123456789abcdef',
  }),
  'webhook-timestamp': z.string().meta({ description: 'Unix seconds of the attempt', example: '1795228200' }),
  'webhook-signature': z.string().meta({
    description: 'The signature of Standard Webhooks: `v1,` and base64, keyed by the decoded secret',
    example: 'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=',
  }),
})

/** The `webhooks` of the document. */
export const webhooksOf = (
  events: readonly PostedEvent[],
  { schemas, parameters }: { schemas: NamedSchemas; parameters: SharedParameters },
): Json =>
  Object.fromEntries(
    events.map(({ name, summary, description, body }) => [
      name,
      {
        post: {
          operationId: `receive${name.charAt(0).toUpperCase()}${name.slice(1)}`,
          tags: ['Webhooks'],
          summary,
          description,
          security: [],
          parameters: parameters.of('header', SIGNATURES),
          requestBody: { required: true, content: { 'application/json': mediaOf(body, 'output', schemas) } },
          responses: {
            '2XX': { description: 'Received. Any other answer, or none within 5 s, is a failed attempt' },
            '410': { description: 'The address is gone: the gateway stops retrying, and deletes a trigger' },
          },
        },
      },
    ]),
  )
