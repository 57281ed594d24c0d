import { z } from 'zod'
import type { AcceptedSms, OutboundSms, ProviderResult } from '../provider.ts'
import { EXTENSION_PATH } from './extension.ts'
import type { Call, Requester } from './request.ts'
import { optionalText, wireId } from './wire-text.ts'

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

/** `GetSMSMessageInfoResponse`: the record of the message store, normally `Queued`. */
const acceptedSchema = z.object({ id: wireId, messageStatus: optionalText }).transform((record): AcceptedSms => ({
  providerMessageId: record.id,
  failed: record.messageStatus === 'SendingFailed' || record.messageStatus === 'DeliveryFailed',
}))
