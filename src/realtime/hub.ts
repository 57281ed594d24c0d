import type { MessageStatus } from '../db/schema/messages.ts'

/** An outbound message changed its status. Fields as the contract prints them. */
export interface SmsStatusEvent {
  type: 'sms_status'
  messageId: string
  appId: string
  tenantId: string
  status: MessageStatus
  rcMessageId?: string
  error?: string
  timestamp: string
}

/** An inbound SMS was stored. */
export interface SmsInboundEvent {
  type: 'sms_inbound'
  messageId: string
  from: string
  to: string
  body: string
  rcMessageId: string
  tenantId: string
  timestamp: string
  receivingExtensionId?: string
}

export type GatewayEvent = SmsStatusEvent | SmsInboundEvent

/** Where events go after their commit. Nothing is queued or replayed: the database is what lasts. */
export interface Hub {
  publish(event: GatewayEvent): void
  /** Hears every event of every tenant from now on; the answer ends it. */
  subscribe(listener: (event: GatewayEvent) => void): () => void
}

export function createHub(): Hub {
  const listeners = new Set<(event: GatewayEvent) => void>()
  return {
    publish: (event) => listeners.forEach((listener) => listener(event)),
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}
