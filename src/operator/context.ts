import type { Gateway } from '../gateway.ts'

/** The gateway and the simulator that an operator's command runs on. */
export interface OperatorContext {
  gateway: Gateway
  /** The running simulator; null if the provider is RingCentral itself, or no server runs. */
  simulator: PhoneSimulator | null
}

/** The part of the simulator that commands use. It is declared here so that production never loads the simulator. */
export interface PhoneSimulator {
  /** Sends an SMS to a number, as a phone would. Resolves when the webhooks have answered; rejects if no extension has the number. */
  injectSms(sms: {
    to: string
    from: string
    text: string
  }): Promise<{ messageId: string; deliveries: { status: number | null }[] }>
}
