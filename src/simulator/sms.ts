import type { ApiCall } from './api-call.ts'
import { canSendSms, type Extension } from './directory.ts'
import { apiError, badParameter, invalidParameter } from './errors.ts'
import { announceChange, hasChangeSubscribers } from './events.ts'
import { asObject, jsonObject, mediaType, header, type Call, type Reply } from './http.ts'
import { jsonOfMessages, messageRecord } from './message-record.ts'
import type { Message } from './messages.ts'
import { readRecipients } from './sms-recipients.ts'
import type { World } from './world.ts'

/**
 * `POST …/extension/~/sms` (RingCentral API reference, "Create SMS message"). The record is stored before the answer, so
 * that a client that loses the answer can find the record. A repeated call sends another message.
 */
export function sendSms({ world, call, extension }: ApiCall): Reply {
  const source = jsonSource(call)
  if (source === null) return apiError(415, 'CMN-120', 'Unsupported Media Type')
  const body = jsonObject(source)
  if (body === null) return apiError(400, 'CMN-120', 'Invalid request body')
  const from = asObject(body['from'])?.['phoneNumber']
  if (typeof from !== 'string' || from === '') return invalidParameter('from')
  const to = readRecipients(body['to'])
  if ('status' in to) return to
  const { text } = body
  if (typeof text !== 'string' || text.length === 0 || text.length > MAX_TEXT_UNITS) return invalidParameter('text')
  const refusal = checkSender(world, extension, from)
  if (refusal !== null) return refusal
  const recipients = to.map((phoneNumber) => ({ phoneNumber }))
  return accept(world, world.messages.addOutbound(extension, { from: { phoneNumber: from }, to: recipients, text }))
}

/** In UTF-16 code units, as `String.length`. */
const MAX_TEXT_UNITS = 1000

function accept(world: World, message: Message): Reply {
  world.log.counters.smsAccepted++
  if (message.outcome === null || message.outcome.messageStatus === 'Delivered')
    for (const ring of world.phones) ring(message)
  if (hasChangeSubscribers(world, message)) announceProgress(world, message)
  return jsonOfMessages(messageRecord(world, message))
}

function announceProgress(world: World, message: Message): void {
  void announceChange(world, message, 'new')
  const { sentAfterMs, deliveredAfterMs } = world.settings
  for (const delayMs of [sentAfterMs, ...(deliveredAfterMs === null ? [] : [deliveredAfterMs])]) {
    world.clock.after(delayMs, () => void announceChange(world, message, 'updated'))
  }
}

/**
 * Returns the JSON of the body. The platform's SDKs send a multipart body whose first part is the JSON
 * (`request.json`).
 */
function jsonSource(call: Call): string | null {
  const type = mediaType(call)
  if (type === 'application/json') return call.body
  return type === 'multipart/form-data' || type === 'multipart/mixed' ? firstPart(call) : null
}

function firstPart(call: Call): string {
  const boundary = /boundary="?([^";]+)"?/i.exec(header(call, 'content-type'))?.[1] ?? '\0'
  const part = call.body.split(`--${boundary}`)[1] ?? ''
  return part.slice(part.indexOf('\r\n\r\n') + 4).trim()
}

function checkSender(world: World, extension: Extension, from: string): Reply | null {
  const own = extension.numbers.find((number) => number.phoneNumber === from)
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
