import { z } from 'zod'
import type { AcceptedSms, OutboundSms, ProviderResult } from '../provider.ts'
import { EXTENSION_PATH } from './extension.ts'
import type { Call, Requester } from './request.ts'
import { isWireId } from './wire-text.ts'

/**
 * `POST …/sms`. The API knows no idempotency key: after an `ambiguous` failure only the message store can tell whether
 * the message exists.
 */
export function sendSms(
  requester: Requester,
  accessToken: string,
  message: OutboundSms,
): Promise<ProviderResult<AcceptedSms>> {
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
}

/**
 * `GetSMSMessageInfoResponse`: the record of the message store, normally `Queued`. In one step, because every message that
 * is sent passes here: a schema for each member would take twice as long.
 */
const acceptedSchema = z
  .custom<SmsRecord>((value) => typeof value === 'object' && value !== null && 'id' in value && isWireId(value.id))
  .transform(({ id, messageStatus }): AcceptedSms => ({
    providerMessageId: String(id),
    failed: messageStatus === 'SendingFailed' || messageStatus === 'DeliveryFailed',
  }))
