import { WEBHOOK_EVENTS, type WebhookEvent } from './schema/webhooks.ts'

/** The bit of an event in `apps.webhook_events`. */
export const bitOf = (event: WebhookEvent): number => 1 << WEBHOOK_EVENTS.indexOf(event)

/** The value of `apps.webhook_events`. */
export const eventMask = (events: readonly WebhookEvent[]): number =>
  events.reduce((mask, event) => mask | bitOf(event), 0)

export const subscribedEvents = (mask: number | null): WebhookEvent[] =>
  WEBHOOK_EVENTS.filter((event) => ((mask ?? bitOf('sms_inbound')) & bitOf(event)) !== 0)
