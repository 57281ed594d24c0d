import { z } from 'zod'
import { MESSAGE_ID } from '../../core/ids.ts'
import { DELIVERY_KINDS, DELIVERY_OUTCOMES } from '../../db/schema/webhooks.ts'
import { endDate, idFilter, oneOfFilter, pageNumber, pageSize, startDate, textFilter } from '../../http/list-query.ts'

export const DeliveriesQuery = z.object({
  appId: textFilter,
  triggerId: textFilter,
  messageId: idFilter(MESSAGE_ID, 'badMessageIdFilter'),
  outcome: oneOfFilter(DELIVERY_OUTCOMES, 'badOutcome'),
  kind: oneOfFilter(DELIVERY_KINDS, 'badKind'),
  startDate,
  endDate,
  page: pageNumber,
  limit: pageSize,
})
export type DeliveriesQuery = z.output<typeof DeliveriesQuery>

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
  attemptNumber: z.literal(1),
  correlationId: z.string().optional(),
})
export type DeliveryAttempt = z.infer<typeof DeliveryAttempt>
