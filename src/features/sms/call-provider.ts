import { maskNumber } from '../../core/phone.ts'
import type { Gateway } from '../../gateway.ts'
import type { Job } from '../../jobs/job.ts'
import type { AcceptedSms } from '../../provider/provider.ts'
import type { CallResult } from '../../provider/session.ts'
import type { OutboundMessage } from './outbound-message.ts'
import { type AttemptKey, recordResult } from './record-result.ts'

/** Makes the call of an attempt that is committed, and stores how it ended. */
export async function callProvider(
  gateway: Gateway,
  job: Job,
  message: OutboundMessage,
  attempt: AttemptKey,
): Promise<void> {
  const place = gateway.sendPlaces.enter()
  try {
    const result = await call(gateway, message, attempt)
    place.answered()
    await recordResult(gateway, job, message, attempt, result)
  } finally {
    place.leave()
  }
}

async function call(gateway: Gateway, message: OutboundMessage, attempt: AttemptKey): Promise<CallResult<AcceptedSms>> {
  const key = { tenantId: message.tenantId, extensionId: attempt.extensionId }
  const { from, to, body } = message
  const result = await gateway.session.call(key, 'medium', (token) =>
    gateway.provider.sendSms(token, { from, to, text: body }),
  )
  if (result.type === 'failed') {
    const { status, code, reason, requestId } = result.failure
    gateway.log.warn(
      { messageId: message.id, to: maskNumber(to), reason, status, code, requestId },
      'provider did not take the message',
    )
  }
  return result
}
