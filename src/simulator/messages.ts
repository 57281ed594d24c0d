import type { Clock } from '../core/clock.ts'
import { type Consents, OPTED_OUT } from './consents.ts'
import type { Extension } from './directory.ts'
import type { Settings } from './settings.ts'

export type Direction = 'Inbound' | 'Outbound'

export interface Party {
  phoneNumber?: string
  extensionNumber?: string
  name?: string
  /** The receiving extension's own entry among several recipients. */
  target?: boolean
}

/** Media of an MMS. */
export interface NewAttachment {
  contentType: string
  fileName: string | null
  bytes: Uint8Array
  /** What records name as its address; null for the right one. */
  uri: string | null
}

export interface Attachment extends Omit<NewAttachment, 'bytes'> {
  id: number
  size: number
  /** Null once newer media have taken its place. */
  bytes: Uint8Array | null
}

export interface Message {
  id: number
  /** The extension whose store has it: a user, or the call queue that owns the number. */
  extensionId: number
  accountId: number
  direction: Direction
  from: Party
  to: Party[]
  /** Null: the record has no `subject`. */
  text: string | null
  /** Whether it is in the store of message threads, not in the message store. */
  isThreaded: boolean
  /** Of an MMS, beside the text itself. */
  attachments: Attachment[]
  createdAt: number
  /** Null: the settings decide. */
  outcome: FinalOutcome | null
  /** Set by the control API. It overrides every other state. */
  forced: MessageState | null
}

export interface FinalOutcome {
  messageStatus: 'Delivered' | 'SendingFailed' | 'DeliveryFailed'
  /** For example `SMS-CAR-430`. */
  deliveryErrorCode?: string
}

export interface MessageState {
  messageStatus: string
  deliveryErrorCode: string | null
  changedAt: number
}

export interface NewMessage {
  from: Party
  to: Party[]
  text: string | null
  attachments: NewAttachment[]
  /** Default: the message store has it. */
  isThreaded?: boolean
}

const MAX_MESSAGES_PER_EXTENSION = 1_000_000
/** How many of the oldest messages are dropped when an extension has the maximum. */
const DROPPED_MESSAGES = 100_000
/** All media together. */
const MAX_MEDIA_BYTES = 100_000_000
/** Conversation ids are above 2^53 on the platform, which breaks clients that read them as numbers. */
const CONVERSATION_FLOOR = 2n ** 60n

/** The stored messages. Statuses are computed from the clock when they are read, so that many sends need no timers. */
export class Messages {
  readonly #byId = new Map<number, Message>()
  readonly #byExtension = new Map<number, Message[]>()
  readonly #planned: FinalOutcome[] = []
  /** Those that have their bytes, oldest first. */
  readonly #media: Attachment[] = []
  #mediaBytes = 0
  // Ids follow real time even with a manual clock, because a restarted simulator must not reuse an id that its client
  // has stored.
  #lastId = Date.now() * 1000

  constructor(
    private readonly clock: Clock,
    private readonly settings: Settings,
    private readonly consents: Consents,
  ) {}

  addOutbound(extension: Extension, sms: NewMessage): Message {
    const outcome = this.#planned.shift() ?? (this.consents.blocks(extension.accountId, sms) ? OPTED_OUT : null)
    return this.#add(extension, 'Outbound', sms, outcome)
  }

  addInbound(extension: Extension, sms: NewMessage): Message {
    this.consents.noteInbound(extension.accountId, sms, sms.text)
    return this.#add(extension, 'Inbound', sms, null)
  }

  find(id: number): Message | undefined {
    return this.#byId.get(id)
  }

  /** Oldest first. */
  of(extensionId: number): readonly Message[] {
    return this.#byExtension.get(extensionId) ?? []
  }

  all(): Message[] {
    return [...this.#byId.values()]
  }

  state(message: Message): MessageState {
    return message.forced ?? plannedState(message, this.clock.now(), this.settings)
  }

  stateWhenAdded(message: Message): MessageState {
    return message.forced ?? plannedState(message, message.createdAt, this.settings)
  }

  /** Sets the outcome of the next `calls` accepted messages. */
  planNext(calls: number, outcome: FinalOutcome): void {
    for (let left = calls; left > 0; left--) this.#planned.push(outcome)
  }

  /** Forgets the outcomes that are planned for messages to come. */
  clearPlanned(): void {
    this.#planned.splice(0)
  }

  #add(extension: Extension, direction: Direction, sms: NewMessage, outcome: FinalOutcome | null): Message {
    const message: Message = {
      id: ++this.#lastId,
      extensionId: extension.id,
      accountId: extension.accountId,
      direction,
      from: sms.from,
      to: sms.to,
      text: sms.text,
      isThreaded: sms.isThreaded ?? false,
      attachments: sms.attachments.map((one) => this.#addMedia(one)),
      createdAt: this.clock.now(),
      outcome,
      forced: null,
    }
    this.#byId.set(message.id, message)
    this.#keep(message)
    return message
  }

  /** Forgets the oldest bytes beyond the maximum. */
  #addMedia(added: NewAttachment): Attachment {
    const attachment = { ...added, id: ++this.#lastId, size: added.bytes.length }
    this.#media.push(attachment)
    this.#mediaBytes += attachment.size
    while (this.#mediaBytes > MAX_MEDIA_BYTES) {
      const oldest = this.#media.shift()
      if (oldest === undefined) break
      oldest.bytes = null
      this.#mediaBytes -= oldest.size
    }
    return attachment
  }

  #keep(message: Message): void {
    const stored = this.#byExtension.get(message.extensionId) ?? []
    this.#byExtension.set(message.extensionId, stored)
    if (stored.length >= MAX_MESSAGES_PER_EXTENSION) {
      for (const old of stored.splice(0, DROPPED_MESSAGES)) this.#byId.delete(old.id)
    }
    stored.push(message)
  }
}

/** The current state: `Queued`, then `Sent`, then the final status if there is one. */
function plannedState(message: Message, now: number, settings: Settings): MessageState {
  const { createdAt, outcome } = message
  if (message.direction === 'Inbound') return stateAt('Received', createdAt)
  const { deliveredAfterMs } = settings
  const sentAt = createdAt + settings.sentAfterMs
  const atOnce = outcome?.messageStatus === 'SendingFailed' || deliveredAfterMs === null
  const finalAt = atOnce ? sentAt : createdAt + deliveredAfterMs
  const final = outcome ?? (deliveredAfterMs === null ? null : { messageStatus: 'Delivered' as const })
  if (final !== null && now >= finalAt) return stateAt(final.messageStatus, finalAt, outcome?.deliveryErrorCode)
  return now >= sentAt ? stateAt('Sent', sentAt) : stateAt('Queued', createdAt)
}

function stateAt(messageStatus: string, changedAt: number, code?: string): MessageState {
  return { messageStatus, deliveryErrorCode: code ?? null, changedAt }
}

/**
 * The conversation's id depends on the extension and the set of numbers, not on the direction. It is text, because it
 * exceeds 2^53.
 */
export function conversationOf({ extensionId, from, to }: Message): string {
  const numbers = [from, ...to].map((party) => party.phoneNumber ?? party.extensionNumber ?? '').toSorted()
  const hash: bigint = Bun.hash.wyhash(`${extensionId} ${numbers.join(' ')}`)
  return String(CONVERSATION_FLOOR + (hash % CONVERSATION_FLOOR))
}
