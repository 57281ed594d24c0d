import { z } from 'zod'
import type { OutboundSms, SmsAnswer } from '../outbound-sms.ts'
import type { ProviderResult } from '../provider.ts'
import { EXTENSION_PATH } from './extension.ts'
import type { Call, Requester } from './request.ts'
import { isWireId } from './wire-text.ts'

/**
 * `POST …/sms`. The API has no idempotency keys, so after an `ambiguous` failure only the message store tells whether the message
 * exists.
 */
export function sendSms(
  requester: Requester,
  accessToken: string,
  message: OutboundSms,
): Promise<ProviderResult<SmsAnswer>> {
  const json = {
    from: { phoneNumber: message.from },
    to: [{ phoneNumber: message.to }],
    text: message.text,
  }
  const call: Call = {
    method: 'POST',
    path: `${EXTENSION_PATH}/sms`,
    as: { accessToken },
    json,
    messageText: message.text,
  }
  return requester.read(call, acceptedSchema)
}

interface SmsRecord {
  id: string | number
  messageStatus?: unknown
  owner?: { extensionId?: unknown } | null
}

/**
 * `GetSMSMessageInfoResponse`: the record of the message store, normally `Queued`. One step instead of a schema for each member
 * takes half the time, which counts because every sent message passes here.
 */
const acceptedSchema = z
  .custom<SmsRecord>((value) => typeof value === 'object' && value !== null && 'id' in value && isWireId(value.id))
  .transform(({ id, messageStatus, owner }): SmsAnswer => ({
    providerMessageId: String(id),
    failed: messageStatus === 'SendingFailed' || messageStatus === 'DeliveryFailed',
    ownerId: isWireId(owner?.extensionId) ? String(owner.extensionId) : null,
  }))
