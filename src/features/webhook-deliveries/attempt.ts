import { z } from 'zod'
import { type Members, itemOf, shown, shownIfAny, shownOr, shownTime, shownWhere } from '../../db/lists/item.ts'
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
  tenantId: shown(deliveries.tenantId),
  kind: shown(deliveries.kind),
  appId: shownWhere(deliveries.targetId, deliveries.kind, 'app'),
  triggerId: shownWhere(deliveries.targetId, deliveries.kind, 'trigger'),
  messageId: shown(deliveries.messageId),
  url: shown(deliveries.url),
  outcome: shown(deliveries.outcome),
  statusCode: shownIfAny(deliveries.statusCode),
  errorClass: shownIfAny(deliveries.errorClass),
  errorMessage: shownIfAny(deliveries.errorMessage),
  responseSnippet: shownIfAny(deliveries.responseSnippet),
  durationMs: shownOr(deliveries.durationMs, 0),
  attemptedAt: shownTime(deliveries.attemptedAt),
  deliveryId: shown(deliveries.deliveryId),
  attemptNumber: shown(deliveries.attemptNumber),
  correlationId: shown(deliveries.correlationId),
} satisfies Members<z.infer<typeof DeliveryAttempt>>)
