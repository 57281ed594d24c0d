/** Receives measurements from the engines. Every label comes from a short fixed list. */
export interface Meter {
  /** A provider call ended: `ok`, or the failure's reason. */
  providerCall(operation: string, outcome: string, durationMs: number): void
  /** A webhook POST ended. */
  webhookPost(outcome: string, durationMs: number): void
  /** A listing for delivery states ended: `ok`, `waiting`, `gone`, or the failure's reason. */
  deliveryPoll(outcome: string): void
}

export const noMeter: Meter = { providerCall() {}, webhookPost() {}, deliveryPoll() {} }
