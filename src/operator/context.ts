import type { Gateway } from '../gateway.ts'

/** What an operator's command works on. */
export interface OperatorContext {
  gateway: Gateway
  /** The running simulator; null against the provider itself, and where no server runs. */
  simulator: PhoneSimulator | null
}

/** The part of the simulator that commands use. Described here, so that production never loads the simulator itself. */
export interface PhoneSimulator {
  /** Somebody sends an SMS to a number; settles when the webhooks have answered. Rejects when nobody owns the number. */
  injectSms(sms: {
    to: string
    from: string
    text: string
  }): Promise<{ messageId: string; deliveries: { status: number | null }[] }>
}
