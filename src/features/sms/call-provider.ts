import { maskNumber } from '../../core/phone.ts'
import type { Gateway } from '../../gateway.ts'
import type { Job } from '../../jobs/job.ts'
import type { ProviderFailure } from '../../provider/provider.ts'
import type { OutboundMessage } from './outbound-message.ts'
import { type AttemptKey, recordResult } from './record-result.ts'

/** Makes the call of an attempt that is committed, and stores how it ended. `mark`: of its places in the rate windows. */
export async function callProvider(
  gateway: Gateway,
  job: Job,
  message: OutboundMessage,
  attempt: AttemptKey,
  mark: number,
): Promise<void> {
  const place = gateway.sendPlaces.enter()
  try {
    const key = { tenantId: message.tenantId, extensionId: attempt.extensionId }
    const { from, to, body: text } = message
    const result = await gateway.session.call(key, 'medium', (token) =>
      gateway.provider.sendSms(token, { from, to, text }),
    )
    place.answered()
    gateway.quota.answered(from, attempt.extensionId, mark)
    if (result.type === 'failed') noteFailure(gateway, message, result.failure)
    await recordResult(gateway, job, message, attempt, result)
  } finally {
    place.leave()
  }
}

function noteFailure({ log }: Gateway, { id, to }: OutboundMessage, failure: ProviderFailure): void {
  const { status, code, reason, requestId } = failure
  log.warn({ messageId: id, to: maskNumber(to), reason, status, code, requestId }, 'provider did not take the message')
}
