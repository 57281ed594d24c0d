import { checked } from './arguments.ts'
import { announceChange } from './events.ts'
import { injectSms, type InboundSms, type InjectedSms } from './inbound.ts'
import type { FinalOutcome, Message } from './messages.ts'
import { InboundShape, MessageStatusShape, MessagesFilterShape, PlanShape } from './traffic-arguments.ts'
import type { World } from './world.ts'

/** The control knobs for messages. */
export interface MessageKnobs {
  /** Stores an inbound SMS and sends its events. Resolves when the webhooks have answered; no socket answers. */
  injectSms(sms: InboundSms): Promise<InjectedSms>
  /** Sets the outcome of the next `calls` (default 1) accepted sends. */
  planNextSms(plan: FinalOutcome & { calls?: number }): void
  setMessageStatus(change: { messageId: string; messageStatus: string; deliveryErrorCode?: string }): void
  /** Resolves all message threads, as people do, or three days of silence: a full sync no longer has any of them. */
  resolveThreads(): { resolved: number }
  /** Oldest first. `limit` (default 1000) counts from the newest. */
  messages(filter?: { extensionId?: string; direction?: 'Inbound' | 'Outbound'; limit?: number }): MessageView[]
}

export interface MessageView {
  messageId: string
  /** The extension whose store has it: a user, or a call queue. */
  extensionId: string
  direction: 'Inbound' | 'Outbound'
  /** Null for a sender without a number. */
  from: string | null
  to: string[]
  text: string | null
  attachments: { contentType: string; fileName: string | null; size: number }[]
  messageStatus: string
  /** Epoch milliseconds. */
  createdAt: number
}

export const messageKnobs = (world: World): MessageKnobs => ({
  injectSms: async (sms) => injectSms(world, checked(InboundShape, sms)),
  planNextSms(plan) {
    const { calls = 1, ...outcome } = checked(PlanShape, plan)
    world.messages.planNext(calls, outcome)
  },
  setMessageStatus(change) {
    const { messageId, messageStatus, deliveryErrorCode = null } = checked(MessageStatusShape, change)
    const message = world.messages.find(Number(messageId))
    if (message === undefined) throw new Error(`Unknown message ${messageId}`)
    message.forced = { messageStatus, deliveryErrorCode, changedAt: world.clock.now() }
    void announceChange(world, message, 'updated')
  },
  resolveThreads: () => ({ resolved: world.threads.resolveAll() }),
  messages(filter = {}) {
    const { extensionId, direction, limit = DEFAULT_LIMIT } = checked(MessagesFilterShape, filter)
    return (extensionId === undefined ? world.messages.all() : world.messages.of(Number(extensionId)))
      .filter((message) => direction === undefined || message.direction === direction)
      .slice(-limit)
      .map((message) => messageView(world, message))
  },
})

const DEFAULT_LIMIT = 1000

const messageView = (world: World, message: Message): MessageView => ({
  messageId: String(message.id),
  extensionId: String(message.extensionId),
  direction: message.direction,
  from: message.from.phoneNumber ?? null,
  to: message.to.map((party) => party.phoneNumber ?? party.extensionNumber ?? ''),
  text: message.text,
  attachments: message.attachments.map(({ contentType, fileName, size }) => ({ contentType, fileName, size })),
  messageStatus: world.messages.state(message).messageStatus,
  createdAt: message.createdAt,
})
