import type { EncryptionContext } from '../core/secrets.ts'
import type { DeliveryKind } from '../db/schema/webhooks.ts'

/** An inbound message and the destination that it is posted to: the work of one `webhook` job. */
export interface Delivery extends DeliveredMessage {
  /** `<messageId>:<targetId>`, the job's subject. */
  deliveryId: string
  kind: DeliveryKind
  /** An app's or a trigger's id, the job's lane. */
  targetId: string
  /** Null when the destination has no address any more. */
  url: string | null
  /** Sealed; null with `url`. */
  secret: string | null
  /** The same for all deliveries of one provider event. */
  correlationId: string
}

export interface DeliveredMessage {
  messageId: string
  from: string
  to: string
  body: string
  rcMessageId: string
  receivingExtensionId: string | null
  /** Epoch milliseconds. */
  timestamp: number
}

export type Target = Pick<Delivery, 'targetId' | 'url' | 'secret'>

/** The jobs of one provider event have the same id, which gives their deliveries the same correlation id. */
export const correlationOf = (jobId: string): string => jobId.replace(/^job_/, 'cor_')

/** `jobId`: the message's. */
export const deliveryOf = (message: DeliveredMessage, target: Target, jobId: string): Delivery => ({
  ...message,
  ...target,
  deliveryId: `${message.messageId}:${target.targetId}`,
  kind: target.targetId.startsWith('trg_') ? 'trigger' : 'app',
  correlationId: correlationOf(jobId),
})

export const sealContextOf = (tenantId: string, delivery: Pick<Delivery, 'kind' | 'targetId'>): EncryptionContext => ({
  tenantId,
  row: delivery.targetId,
  purpose: delivery.kind === 'app' ? 'webhook_secret' : 'trigger_secret',
})
