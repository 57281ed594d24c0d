import type { MessageView } from './control-views.ts'
import { announceChange } from './events.ts'
import { injectSms, type InboundSms } from './inbound.ts'
import type { FinalOutcome, Message } from './messages.ts'
import type { World } from './world.ts'

/** The control knobs for messages. */
export function messageKnobs(world: World) {
  const { messages, clock } = world

  function planNextSms({ calls = 1, ...outcome }: FinalOutcome & { calls?: number }): void {
    messages.planNext(calls, outcome)
  }

  function setMessageStatus(change: { messageId: string; messageStatus: string; deliveryErrorCode?: string }): void {
    const message = messages.find(Number(change.messageId))
    if (message === undefined) throw new Error(`Unknown message ${change.messageId}`)
    const { messageStatus, deliveryErrorCode = null } = change
    message.forced = { messageStatus, deliveryErrorCode, changedAt: clock.now() }
    void announceChange(world, message, 'updated')
  }

  function list(filter: { extensionId?: string; direction?: string; limit?: number } = {}): MessageView[] {
    const { extensionId, direction, limit = DEFAULT_LIMIT } = filter
    return (extensionId === undefined ? messages.all() : messages.of(Number(extensionId)))
      .filter((message) => direction === undefined || message.direction === direction)
      .slice(-limit)
      .map((message) => messageView(world, message))
  }

  return { injectSms: (sms: InboundSms) => injectSms(world, sms), planNextSms, setMessageStatus, messages: list }
}

const DEFAULT_LIMIT = 1000

const messageView = (world: World, message: Message): MessageView => ({
  messageId: String(message.id),
  extensionId: String(message.extensionId),
  direction: message.direction,
  from: message.from.phoneNumber ?? null,
  to: message.to.map((party) => party.phoneNumber ?? party.extensionNumber ?? ''),
  text: message.text,
  messageStatus: world.messages.state(message).messageStatus,
  createdAt: message.createdAt,
})
