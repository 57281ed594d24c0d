import type { EncryptionContext } from '../../core/secrets.ts'
import { type DestinationKind, WEBHOOK_EVENTS, type WebhookEvent } from '../../db/schema/webhooks.ts'

/** A message's event and its destination: the work of one `webhook` job. */
export interface Delivery {
  /** The job's subject; see `webhook_attempts.delivery_id`. */
  deliveryId: string
  messageId: string
  tenantId: string
  kind: DestinationKind
  /** The id of the app or trigger, the job's lane. */
  targetId: string
  /** The address of the app or trigger when it was read; null if it no longer has one. */
  url: string | null
  /** Encrypted; null if `url` is null. */
  secret: string | null
  /** The same for all deliveries of a message. */
  correlationId: string
  /** The body of its POSTs: the fields of the WebSocket event. */
  payload: object
  /** How many attachments the posted inbound message has; 0 for any other event. */
  attachments: number
}

/** The parts of a delivery id. */
export interface DeliveryAddress {
  deliveryId: string
  messageId: string
  targetId: string
  event: WebhookEvent
}

export function addressOf(deliveryId: string): DeliveryAddress {
  const [messageId = '', targetId = '', name] = deliveryId.split(':')
  const event = WEBHOOK_EVENTS.find((known) => known === name) ?? 'sms_inbound'
  return { deliveryId, messageId, targetId, event }
}

/** The jobs of one message have the same id, which gives their deliveries the same correlation id. */
export const correlationOf = (jobId: string): string => jobId.replace(/^job_/, 'cor_')

/** The context with which the secret of a destination is encrypted. */
export const secretContextOf = (
  tenantId: string,
  { kind, targetId }: Pick<Delivery, 'kind' | 'targetId'>,
): EncryptionContext => ({
  tenantId,
  row: targetId,
  purpose: kind === 'app' ? 'webhook_secret' : 'trigger_secret',
})
