import type { ProviderChanges } from './provider-changes.ts'

/** What operators may do with the built-in simulator. It is declared here so that production never loads the simulator. */
export interface SimulatorAccess extends ProviderChanges {
  /** Sends an SMS to a number, as a phone would. Resolves when the webhooks have answered; rejects if no extension has the number. */
  injectSms(sms: {
    to: string
    from: string
    /** Null for an MMS without text. */
    text: string | null
    attachments?: { contentType: string; fileName: string; data: string }[]
  }): Promise<{ messageId: string; deliveries: { status: number | null }[] }>
  /** Sets a fault for the next send only; null removes it. */
  setNextFault(fault: NextFault | null): void
  nextFault(): NextFault | null
  /** Makes the provider treat the next messages, or all calls, as a test needs. */
  simulate(wish: SituationWish): void
  /** Moves the time forward by milliseconds; absent unless the gateway was started for tests. */
  advance?: (ms: number) => Promise<void>
  /** The last calls between the gateway and the simulator, oldest first. `limit` counts from the newest. */
  calls(filter?: CallFilter): RecordedCall[]
}

/**
 * The delivery delay of a simulator that a person runs. Shorter than the delay of the first receipt poll, so that this poll finds the message
 * delivered.
 */
export const DELIVERED_AFTER_MS = 3000

/**
 * `429`: refused, with `Retry-After: 2`. `5xx-after`: a 502 after the message was accepted. `slow`: takes 3 s. `opted-out`: accepted,
 * and then not delivered with the code 413.
 */
export const NEXT_FAULTS = ['429', '5xx-after', 'slow', 'opted-out'] as const
export type NextFault = (typeof NEXT_FAULTS)[number]

/**
 * `fail`: refuses a send permanently. `limit`: refuses it for now, with `Retry-After: 1`. `undelivered`: accepts it, and then does not deliver
 * it. `outage`: answers 503 to every call. `reset`: ends all of these, and every other fault.
 */
export const SITUATIONS = ['fail', 'limit', 'undelivered', 'outage', 'reset'] as const
export type Situation = (typeof SITUATIONS)[number]

export interface SituationWish {
  situation: Situation
  /** How many sends it affects. Not for `outage` and `reset`. */
  times: number
  /** The delivery error code of `undelivered`. */
  code: string
}

export interface CallFilter {
  /** Calls about a message from this number. With both numbers: in both directions. */
  from?: string | undefined
  to?: string | undefined
  /** Epoch milliseconds. */
  since?: number | undefined
  limit?: number | undefined
}

/** One HTTP call. Tokens are masked, and bodies cut at 4,096 bytes. */
export interface RecordedCall {
  /** Epoch milliseconds. */
  at: number
  durationMs: number
  /** `out`: the gateway called. `in`: the simulator called the gateway's webhook. */
  direction: 'in' | 'out'
  /** The name of the simulator's route, or `event`. */
  route: string
  method: string
  path: string
  request: { headers: Record<string, string>; body: string }
  /** Null if the connection was cut without an answer. */
  response: { status: number; headers: Record<string, string>; body: string } | null
  /** The fault that was applied. */
  fault: string | null
  /** The id of the message that the call is about. */
  rcMessageId?: string
}
