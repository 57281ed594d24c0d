import { z } from 'zod'
import { ApiError } from '../core/errors.ts'
import { MAX_BODY_UNITS } from '../core/limits.ts'
import { isE164 } from '../core/phone.ts'
import type { OperatorContext, PhoneSimulator } from './context.ts'

const number = (name: string) => z.string().refine(isE164, `${name} must be a phone number such as +15555550100`)

export const SimulateInbound = z.object({
  to: number('--to'),
  from: number('--from'),
  text: z.string().max(MAX_BODY_UNITS, `--text may have ${MAX_BODY_UNITS} characters`),
})

/** Makes an inbound SMS in the simulator, which calls the webhook. Returns the provider's id, `rcMessageId` in lists. */
export async function simulateInbound(
  { simulator }: OperatorContext,
  sms: z.output<typeof SimulateInbound>,
): Promise<{ id: string }> {
  if (simulator === null) throw new ApiError('unavailable', NO_SIMULATOR)
  const { messageId, deliveries } = await inject(simulator, sms)
  if (deliveries.length === 0)
    throw new ApiError(
      'unavailable',
      `No webhook is subscribed to ${sms.to}: connect its extension first (POST /v1/rc/connect-token makes a link)`,
    )
  if (!deliveries.some((delivery) => delivery.status === 200))
    throw new ApiError('unavailable', 'The webhook refused the message: see the log')
  return { id: messageId }
}

const NO_SIMULATOR =
  'This server uses RingCentral itself: inbound messages can be simulated only with the built-in simulator (development, no RC_CLIENT_ID)'

async function inject(
  simulator: PhoneSimulator,
  sms: z.output<typeof SimulateInbound>,
): ReturnType<PhoneSimulator['injectSms']> {
  try {
    return await simulator.injectSms(sms)
  } catch (error) {
    throw new ApiError(
      'not_found',
      `The simulator refuses: ${error instanceof Error ? error.message : 'unknown error'}`,
    )
  }
}
