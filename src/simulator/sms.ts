import type { ApiCall } from './api-call.ts'
import { canSendSms, type Extension, type PhoneNumber } from './directory.ts'
import { apiError, badParameter, invalidParameter, invalidUri, unreadableBody } from './errors.ts'
import { announceChange, hasChangeSubscribers } from './events.ts'
import { asObject, jsonObject, mediaType, type Reply } from './http.ts'
import { jsonOfMessages, messageRecord } from './message-record.ts'
import type { Message } from './messages.ts'
import { readRecipients } from './sms-recipients.ts'
import type { World } from './world.ts'

/**
 * `POST …/extension/~/sms` (RingCentral API reference, "Create SMS message"). The record is stored before the answer, so
 * that a client that loses the answer can find the record. A repeated call sends another message.
 */
export function sendSms({ world, call, extension }: ApiCall): Reply {
  const type = mediaType(call)
  // Messages with media are not simulated, and a 200 without them would be wrong.
  if (type.startsWith('multipart/')) return invalidUri()
  if (type !== 'application/json') return apiError(415, 'CMN-104', 'Cannot parse request')
  const body = jsonObject(call.body)
  if (body === null) return unreadableBody(call.body)
  const from = asObject(body['from'])?.['phoneNumber']
  if (typeof from !== 'string' || from === '') return invalidParameter('from')
  const to = readRecipients(body['to'])
  if ('status' in to) return to
  const { text } = body
  if (typeof text !== 'string' || text.length === 0 || text.length > MAX_TEXT_UNITS) return invalidParameter('text')
  const own = ownNumber(extension, from)
  const refusal = checkSender(world, extension, own, from)
  if (refusal !== null) return refusal
  const recipients = to.map((phoneNumber) => ({ phoneNumber }))
  const owner = world.directory.extension(own?.ownerId ?? extension.id) ?? extension
  const sms = { from: { phoneNumber: from }, to: recipients, text }
  return accept(world, world.messages.addOutbound(owner, sms), extension)
}

/** In UTF-16 code units, as `String.length`. */
const MAX_TEXT_UNITS = 1000

function accept(world: World, message: Message, sender: Extension): Reply {
  world.log.counters.smsAccepted++
  if (message.outcome === null || message.outcome.messageStatus === 'Delivered')
    for (const ring of world.phones) ring(message)
  if (hasChangeSubscribers(world, message)) announceProgress(world, message)
  // However long the answer takes: a message that failed meanwhile was accepted all the same.
  return jsonOfMessages(messageRecord(world, message, sender, world.messages.stateWhenAdded(message)))
}

function announceProgress(world: World, message: Message): void {
  void announceChange(world, message, 'new')
  const { sentAfterMs, deliveredAfterMs } = world.settings
  for (const delayMs of [sentAfterMs, ...(deliveredAfterMs === null ? [] : [deliveredAfterMs])]) {
    world.clock.after(delayMs, () => void announceChange(world, message, 'updated'))
  }
}

const ownNumber = (extension: Extension, from: string): PhoneNumber | undefined =>
  extension.numbers.find((number) => number.phoneNumber === from)

function checkSender(world: World, extension: Extension, own: PhoneNumber | undefined, from: string): Reply | null {
  if (own !== undefined && own.type === 'FaxOnly') return featureError('MSG-241', 'Cannot send SMS from Fax number')
  if (own !== undefined && canSendSms(own)) return null
  const others = world.directory.holdersOf(from).filter((one) => one !== extension)
  if (others.some((one) => one.numbers.some((number) => number.phoneNumber === from && canSendSms(number)))) {
    return featureError('MSG-304', "Phone number doesn't belong to extension")
  }
  if (own !== undefined) return featureError('MSG-367', '"from" phone number does not support SMS')
  if (others.length > 0) return featureError('MSG-304', "Phone number doesn't belong to extension")
  const value = from.replace(/^\+/, '')
  return badParameter(
    'MSG-245',
    `Parameter [from] value [${value}] is invalid [Cannot find the phone number which belongs to user]`,
  )
}

const featureError = (code: string, message: string): Reply =>
  apiError(403, code, message, { topLevel: 'FeatureNotAvailable' })
