import { z } from 'zod'
import { appId, messageId, pageFields, tenantId, time, triggerId } from '../fields/answer-fields.ts'
import { DestinationKind, DeliveryOutcome } from '../fields/named-enums.ts'
import { isoTimeOf } from '../../core/clock.ts'
import type { Row } from '../../db/connection.ts'

/** The contract's Webhook delivery attempt. */
export const DeliveryAttempt = z
  .object({
    tenantId,
    kind: DestinationKind,
    appId: appId.optional().meta({ description: 'Only with kind app' }),
    triggerId: triggerId.optional().meta({ description: 'Only with kind trigger' }),
    messageId,
    url: z.string(),
    outcome: DeliveryOutcome,
    statusCode: z.int().optional().meta({ description: 'Whenever a response was received' }),
    errorClass: z.string().optional(),
    errorMessage: z.string().optional(),
    responseSnippet: z
      .string()
      .optional()
      .meta({ description: 'First 256 bytes of the response body, on http_error only' }),
    durationMs: z.int().meta({ description: 'How many milliseconds the attempt took' }),
    attemptedAt: time,
    deliveryId: z.string(),
    attemptNumber: z.int().min(1),
    correlationId: z.string().optional(),
  })
  .meta({ id: 'WebhookDeliveryAttempt' })

export const DeliveryList = z
  .object({ attempts: z.array(DeliveryAttempt), ...pageFields })
  .meta({ id: 'WebhookDeliveryList' })

export type DeliveryAttempt = z.infer<typeof DeliveryAttempt>

/** The attempt in a row of `webhook_attempts` that has ended. */
export function attemptOf(row: Row): DeliveryAttempt {
  const target = String(row['target_id'])
  const { status_code: statusCode, error_class: errorClass, error_message: errorMessage } = row
  const { response_snippet: responseSnippet } = row
  const kind = row['kind'] as DeliveryAttempt['kind']
  return {
    tenantId: String(row['tenant_id']),
    kind,
    ...(kind === 'app' ? { appId: target } : { triggerId: target }),
    messageId: String(row['message_id']),
    url: String(row['url']),
    outcome: row['outcome'] as DeliveryAttempt['outcome'],
    ...(typeof statusCode === 'number' ? { statusCode } : {}),
    ...(typeof errorClass === 'string' ? { errorClass } : {}),
    ...(typeof errorMessage === 'string' ? { errorMessage } : {}),
    ...(typeof responseSnippet === 'string' ? { responseSnippet } : {}),
    durationMs: Number(row['duration_ms'] ?? 0),
    attemptedAt: isoTimeOf(row['attempted_at']),
    deliveryId: String(row['delivery_id']),
    attemptNumber: Number(row['attempt_number']),
    correlationId: String(row['correlation_id']),
  }
}
