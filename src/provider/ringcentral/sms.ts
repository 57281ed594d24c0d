import { z } from 'zod'
import type { OutboundSms, SmsAnswer } from '../outbound-sms.ts'
import type { ProviderResult } from '../provider.ts'
import { EXTENSION_PATH } from './extension.ts'
import { multipartOf } from './multipart.ts'
import type { Call, Requester } from './request.ts'
import { isWireId } from './wire-text.ts'

/**
 * `POST …/sms`. The API has no idempotency keys, so after an `ambiguous` failure only the message store tells whether the message
 * exists.
 */
export async function sendSms(
  requester: Requester,
  accessToken: string,
  message: OutboundSms,
): Promise<ProviderResult<SmsAnswer>> {
  const { from, to, text, media } = message
  const json = { from: { phoneNumber: from }, to: [{ phoneNumber: to }], text }
  const call: Call = { method: 'POST', path: `${EXTENSION_PATH}/sms`, as: { accessToken }, messageText: text }
  if (media === undefined) return requester.read({ ...call, json }, acceptedSchema)
  const uploadedBytes = media.reduce((sum, { size }) => sum + size, 0)
  return requester.read({ ...call, multipart: await multipartOf(json, media), uploadedBytes }, acceptedSchema)
}

interface SmsRecord {
  id: string | number
  messageStatus?: unknown
  owner?: { extensionId?: unknown } | null
}

/**
 * `GetSMSMessageInfoResponse`: the record of the message store, normally `Queued`. One step instead of a schema per member takes half the
 * time, which matters because every sent message passes here.
 */
const acceptedSchema = z
  .custom<SmsRecord>((value) => typeof value === 'object' && value !== null && 'id' in value && isWireId(value.id))
  .transform(({ id, messageStatus, owner }): SmsAnswer => ({
    providerMessageId: String(id),
    failed: messageStatus === 'SendingFailed' || messageStatus === 'DeliveryFailed',
    ownerId: isWireId(owner?.extensionId) ? String(owner.extensionId) : null,
  }))
