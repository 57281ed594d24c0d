import type { SealContext } from '../core/secrets.ts'
import type { DeliveryKind } from '../db/schema/webhooks.ts'

/** One delivery: an inbound message and where it goes. What a `webhook` job works on. */
export interface Delivery extends DeliveredMessage {
  /** `<messageId>:<targetId>`, the job's subject. */
  deliveryId: string
  kind: DeliveryKind
  /** An app's or a trigger's id, the job's lane. */
  targetId: string
  /** Null when the destination wants no more. */
  url: string | null
  /** Sealed; null with `url`. */
  secret: string | null
  /** What the deliveries of one provider event share. */
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

/** The jobs of one provider event share their id, which names what its deliveries share. */
export const correlationOf = (jobId: string): string => jobId.replace(/^job_/, 'cor_')

/** `jobId`: as the message names it. */
export const deliveryOf = (message: DeliveredMessage, target: Target, jobId: string): Delivery => ({
  ...message,
  ...target,
  deliveryId: `${message.messageId}:${target.targetId}`,
  kind: target.targetId.startsWith('trg_') ? 'trigger' : 'app',
  correlationId: correlationOf(jobId),
})

export const sealContextOf = (tenantId: string, delivery: Pick<Delivery, 'kind' | 'targetId'>): SealContext => ({
  tenantId,
  row: delivery.targetId,
  purpose: delivery.kind === 'app' ? 'webhook_secret' : 'trigger_secret',
})
