import type { ApiCall } from './api-call.ts'
import { canSendSms, type Extension, type PhoneNumber } from './directory.ts'
import { apiError, badParameter, invalidParameter, unreadableBody } from './errors.ts'
import { announceChange, hasChangeSubscribers } from './events.ts'
import { asObject, jsonObject, mediaType, type Reply } from './http.ts'
import { jsonOfMessages, messageRecord } from './message-record.ts'
import type { Message, NewAttachment } from './messages.ts'
import { readSentMedia } from './sent-media.ts'
import { readRecipients } from './sms-recipients.ts'
import type { World } from './world.ts'

/**
 * `POST …/extension/~/sms` (RingCentral API reference, "Create SMS message"). The record is stored before the answer, so
 * that a client that loses the answer can find the record. A repeated call sends another message.
 */
export function sendSms(api: ApiCall): Reply {
  if (mediaType(api.call) !== 'application/json') return sendParts(api)
  return send(api, [])
}

/** `POST …/extension/~/mms` (same reference, "Send MMS"), which is the same with media. */
export function sendMms(api: ApiCall): Reply {
  return api.call.files?.length === 0 ? invalidParameter('attachments') : sendParts(api)
}

/** The first part is the JSON of the message, each other one a file. */
function sendParts(api: ApiCall): Reply {
  const { call } = api
  if (!MULTIPART.has(mediaType(call))) return cannotParse(415)
  if (call.files === undefined) return cannotParse(400)
  const media = readSentMedia(call.files)
  return 'status' in media ? media : send(api, media)
}

const MULTIPART = new Set(['multipart/form-data', 'multipart/mixed'])
const cannotParse = (status: number): Reply => apiError(status, 'CMN-104', 'Cannot parse request')

function send({ world, call, extension }: ApiCall, attachments: NewAttachment[]): Reply {
  const body = jsonObject(call.body)
  if (body === null) return unreadableBody(call.body)
  const from = asObject(body['from'])?.['phoneNumber']
  if (typeof from !== 'string' || from === '') return invalidParameter('from')
  const to = readRecipients(body['to'])
  if ('status' in to) return to
  const text = readText(body['text'], attachments.length > 0)
  if (text === undefined) return invalidParameter('text')
  const own = ownNumber(extension, from)
  const refusal = checkSender(world, extension, own, from) ?? (attachments.length > 0 ? checkMedia(own, to) : null)
  if (refusal !== null) return refusal
  const recipients = to.map((phoneNumber) => ({ phoneNumber }))
  const owner = world.directory.extension(own?.ownerId ?? extension.id) ?? extension
  const sms = { from: { phoneNumber: from }, to: recipients, text, attachments }
  return accept(world, world.messages.addOutbound(owner, sms), extension)
}

/** In UTF-16 code units, as `String.length`. */
const MAX_TEXT_UNITS = 1000

/** Undefined if it may not be sent. A message with media needs no text. */
function readText(text: unknown, hasMedia: boolean): string | null | undefined {
  if (text === undefined) return hasMedia ? null : undefined
  const isText = typeof text === 'string' && text.length <= MAX_TEXT_UNITS && (hasMedia || text !== '')
  return isText ? text : undefined
}

function accept(world: World, message: Message, sender: Extension): Reply {
  world.log.counters.smsAccepted++
  if (message.outcome === null || message.outcome.messageStatus === 'Delivered')
    for (const ring of world.phones) ring(message)
  if (hasChangeSubscribers(world, message)) announceProgress(world, message)
  // However long the answer takes: a message that failed in the meantime was still accepted.
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

/** Toll-free numbers lack the feature. Media are for numbers of the United States and Canada. */
function checkMedia(own: PhoneNumber | undefined, to: readonly string[]): Reply | null {
  if (own?.features.includes('MmsSender') !== true) return featureError('MSG-380', 'The MMS feature is not available')
  if (to.some((number) => !number.startsWith('+1')))
    return featureError('MSG-383', 'International MMS is not available')
  return null
}

const featureError = (code: string, message: string): Reply =>
  apiError(403, code, message, { topLevel: 'FeatureNotAvailable' })
