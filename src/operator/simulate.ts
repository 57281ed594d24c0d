import type { z } from 'zod'
import { isoTime } from '../core/clock.ts'
import { ApiError, type ErrorKind, apiError } from '../core/errors.ts'
import type { NextFault, SimulatorAccess, SituationWish } from '../core/simulator-access.ts'
import type { Gateway } from '../messages/gateway.ts'
import type { AdvanceBody, CallsQuery, ChangeBody, FaultBody, InboundBody } from './simulator-schemas.ts'

/** Makes an inbound SMS in the simulator, which calls the webhook. Returns the provider's id. Errors: `unavailable`. */
export async function simulateInbound(
  gateway: Gateway,
  sms: z.output<typeof InboundBody>,
): Promise<{ rcMessageId: string }> {
  const { text, attachments } = sms
  if (text === '' && attachments.length === 0) throw apiError('badBodyLength')
  const { messageId, deliveries } = await inject(simulatorOf(gateway), { ...sms, text: text === '' ? null : text })
  if (deliveries.length === 0)
    throw new ApiError(
      'unavailable',
      `Nobody is subscribed to ${sms.to}: connect its extension first (sgw extensions connect --tenant TENANT prints a link)`,
    )
  if (!deliveries.some((delivery) => delivery.status === 200))
    throw new ApiError('unavailable', 'The gateway did not accept the message: see the log')
  return { rcMessageId: messageId }
}

/** Sets the fault of the next send. */
export function setNextFault(gateway: Gateway, { fault }: z.output<typeof FaultBody>): { fault: NextFault | null } {
  simulatorOf(gateway).setNextFault(fault)
  return { fault }
}

export const nextFault = (gateway: Gateway): { fault: NextFault | null } => ({
  fault: simulatorOf(gateway).nextFault(),
})

/** Makes the provider fail, or stops that. */
export function simulateSituation(gateway: Gateway, wish: SituationWish): Pick<SituationWish, 'situation'> {
  simulatorOf(gateway).simulate(wish)
  return { situation: wish.situation }
}

/** Calls the control interface's change of that name. Errors: `invalid`, with the simulator's reason. */
export function changeProvider(gateway: Gateway, { name, argument }: z.output<typeof ChangeBody>): object {
  const simulator = simulatorOf(gateway)
  try {
    const change: (argument: never) => object = simulator[name]
    // The simulator checks the argument.
    return change(argument as never)
  } catch (error) {
    throw refusalOf(error, 'invalid')
  }
}

/** Moves the clock forward. Returns the new time. Errors: `unavailable` unless the gateway was started for tests. */
export async function advance(gateway: Gateway, { duration }: z.output<typeof AdvanceBody>): Promise<{ now: string }> {
  const { advance: move } = simulatorOf(gateway)
  if (move === undefined) throw new ApiError('unavailable', NO_TEST)
  await move(duration)
  return { now: isoTime(gateway.clock.now()) }
}

const NO_TEST = 'Time moves only in a gateway for tests: start it with --test'

/** The last calls between the gateway and the simulator, oldest first. */
export const listCalls = (gateway: Gateway, query: z.output<typeof CallsQuery>): { calls: object[] } => ({
  calls: simulatorOf(gateway)
    .calls(query)
    .map((call) => ({ ...call, at: isoTime(call.at) })),
})

/** Errors: `unavailable` if the provider is RingCentral itself, or the simulator is not loaded yet. */
function simulatorOf({ simulator }: Gateway): SimulatorAccess {
  if (simulator === null) throw new ApiError('unavailable', NO_SIMULATOR)
  return simulator
}

const NO_SIMULATOR =
  'This server uses RingCentral itself: this works only with the built-in simulator (development, no RC_CLIENT_ID)'

async function inject(
  simulator: SimulatorAccess,
  sms: Parameters<SimulatorAccess['injectSms']>[0],
): ReturnType<SimulatorAccess['injectSms']> {
  try {
    return await simulator.injectSms(sms)
  } catch (error) {
    throw refusalOf(error, 'not_found')
  }
}

const refusalOf = (error: unknown, kind: ErrorKind): ApiError =>
  new ApiError(kind, `The simulator refuses: ${error instanceof Error ? error.message : 'unknown error'}`)
