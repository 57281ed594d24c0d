import { canSendSms, type Extension, type PhoneNumber } from './directory.ts'
import type { EventForm } from './event-body.ts'
import type { Delivery } from './delivery.ts'
import { announceInbound } from './events.ts'
import type { Message, NewAttachment, Party } from './messages.ts'
import { isShared } from './threads.ts'
import type { World } from './world.ts'

/** An SMS that a contact sends to an extension. */
export interface InboundSms {
  /** The sender's number. Default: a fictitious number, unless `fromExtensionNumber` is set. */
  from?: string
  /** The sender of an extension-to-extension message, which has no phone number. */
  fromExtensionNumber?: string
  /** One or several recipients (group MMS). Default: the receiving extension's first SMS number. */
  to?: string | string[]
  /** The receiving extension. Default: the one that may send from a number of `to`, else the first. */
  extensionId?: string
  /** Null: the event has no `subject` member. Default `Hello`. */
  text?: string | null
  /** Media of an MMS. */
  attachments?: MediaSpec[]
  /** Sends the events of this stored message again instead of storing a new one. */
  messageId?: string
  /** How many times the event is sent. Default 1. */
  copies?: number
  form?: EventForm
  /** False: the message is stored but no webhook gets an event. */
  deliver?: boolean
}

export interface MediaSpec {
  contentType: string
  fileName?: string
  /** Base64. Without it the attachment has `size` zero bytes, by default 461,020. */
  data?: string
  size?: number
  /** What records name as its address, instead of the right one. */
  uri?: string
}

export interface InjectedSms {
  messageId: string
  extensionId: string
  /** One per subscription, filter and copy. Delayed deliveries are listed before they are made. */
  deliveries: Delivery[]
}

export async function injectSms(world: World, sms: InboundSms): Promise<InjectedSms> {
  const message = sms.messageId === undefined ? store(world, sms) : stored(world, sms.messageId)
  const copies = sms.deliver === false ? 0 : (sms.copies ?? 1)
  const announced = Array.from({ length: copies }, () => announceInbound(world, message, sms.form ?? 'current'))
  return {
    messageId: String(message.id),
    extensionId: String(message.extensionId),
    deliveries: (await Promise.all(announced)).flat(),
  }
}

function stored(world: World, messageId: string): Message {
  const message = world.messages.find(Number(messageId))
  if (message === undefined) throw new Error(`Unknown message ${messageId}`)
  return message
}

const DEFAULT_SENDER = '+16505550123'
const DEFAULT_ATTACHMENT_BYTES = 461_020

function store(world: World, sms: InboundSms): Message {
  const receiver = receiverOf(world, sms)
  const to = numbersOf(sms)
  const texted = receiver.numbers.find((number) => isTexted(number, to))
  const owner = world.directory.extension(texted?.ownerId ?? receiver.id) ?? receiver
  const from = senderOf(sms)
  const isThreaded = world.settings.messageThreads && texted !== undefined && isShared(receiver, texted)
  const message = world.messages.addInbound(owner, {
    from,
    to: recipientsOf(to, receiver, owner),
    text: sms.text === undefined ? 'Hello' : sms.text,
    attachments: (sms.attachments ?? []).map(media),
    isThreaded,
  })
  if (isThreaded) world.threads.add(world.threads.openFor(owner, texted.phoneNumber, from.phoneNumber ?? ''), message)
  return message
}

/** Whether the text goes to this number: one of those it names, or the first for SMS if it names none. */
const isTexted = (number: PhoneNumber, to: string[]): boolean =>
  to.length === 0 ? canSendSms(number) : to.includes(number.phoneNumber)

const media = ({ contentType, fileName, data, size = DEFAULT_ATTACHMENT_BYTES, uri }: MediaSpec): NewAttachment => ({
  contentType,
  fileName: fileName ?? null,
  bytes: data === undefined ? Buffer.alloc(size) : Buffer.from(data, 'base64'),
  uri: uri ?? null,
})

function receiverOf(world: World, sms: InboundSms): Extension {
  if (sms.extensionId !== undefined) {
    const extension = world.directory.extension(Number(sms.extensionId))
    if (extension === undefined) throw new Error(`Unknown extension ${sms.extensionId}`)
    return extension
  }
  const numbers = numbersOf(sms)
  const owner = numbers.map((number) => world.directory.smsOwnerOf(number)).find((one) => one !== undefined)
  const fallback = numbers.length === 0 ? world.directory.extensions()[0] : undefined
  const receiver = owner ?? fallback
  if (receiver === undefined) throw new Error(`No extension owns ${numbers.join(', ') || 'anything yet'}`)
  return receiver
}

const numbersOf = ({ to = [] }: InboundSms): string[] => (typeof to === 'string' ? [to] : to)

const senderOf = (sms: InboundSms): Party =>
  sms.fromExtensionNumber === undefined
    ? { phoneNumber: sms.from ?? DEFAULT_SENDER }
    : { extensionNumber: sms.fromExtensionNumber, name: `Extension ${sms.fromExtensionNumber}` }

/** The receiver's own number carries its owner's name and `target: true`. */
function recipientsOf(asked: string[], receiver: Extension, owner: Extension): Party[] {
  const own = new Set(receiver.numbers.map((number) => number.phoneNumber))
  const first = receiver.numbers.find(canSendSms)?.phoneNumber
  const numbers = asked.length === 0 && first !== undefined ? [first] : asked
  return numbers.map((phoneNumber) =>
    own.has(phoneNumber) ? { phoneNumber, name: owner.name, target: true } : { phoneNumber },
  )
}
