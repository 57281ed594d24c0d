import { z } from 'zod'
import { type Members, itemOf, field, optionalField, fieldOr, timeField, fieldWhere } from '../../db/lists/item.ts'
import { DELIVERY_KINDS, DELIVERY_OUTCOMES, deliveries } from '../../db/schema/webhooks.ts'

/** The contract's Webhook delivery attempt. */
export const DeliveryAttempt = z.object({
  tenantId: z.string(),
  kind: z.enum(DELIVERY_KINDS),
  appId: z.string().optional().meta({ description: 'Only with kind app' }),
  triggerId: z.string().optional().meta({ description: 'Only with kind trigger' }),
  messageId: z.string(),
  url: z.string(),
  outcome: z.enum(DELIVERY_OUTCOMES),
  statusCode: z.int().optional().meta({ description: 'Whenever a response was received' }),
  errorClass: z.string().optional(),
  errorMessage: z.string().optional(),
  responseSnippet: z
    .string()
    .optional()
    .meta({ description: 'First 256 bytes of the response body, on http_error only' }),
  durationMs: z.int(),
  attemptedAt: z.string().meta({ format: 'date-time' }),
  deliveryId: z.string(),
  attemptNumber: z.int().min(1),
  correlationId: z.string().optional(),
})

/** SQL for a `DeliveryAttempt` from a row. */
export const ATTEMPT_ITEM = itemOf({
  tenantId: field(deliveries.tenantId),
  kind: field(deliveries.kind),
  appId: fieldWhere(deliveries.targetId, deliveries.kind, 'app'),
  triggerId: fieldWhere(deliveries.targetId, deliveries.kind, 'trigger'),
  messageId: field(deliveries.messageId),
  url: field(deliveries.url),
  outcome: field(deliveries.outcome),
  statusCode: optionalField(deliveries.statusCode),
  errorClass: optionalField(deliveries.errorClass),
  errorMessage: optionalField(deliveries.errorMessage),
  responseSnippet: optionalField(deliveries.responseSnippet),
  durationMs: fieldOr(deliveries.durationMs, 0),
  attemptedAt: timeField(deliveries.attemptedAt),
  deliveryId: field(deliveries.deliveryId),
  attemptNumber: field(deliveries.attemptNumber),
  correlationId: field(deliveries.correlationId),
} satisfies Members<z.infer<typeof DeliveryAttempt>>)
