import type { GatewayEvent } from './hub.ts'

/** What is for one app. */
export const appTopic = (appId: string): string => `a:${appId}`
/** What is for every app of a tenant. */
export const tenantTopic = (tenantId: string): string => `t:${tenantId}`

/** Who hears an event. The page of `GET /v1/events` follows the same rule. */
export const topicOf = (event: GatewayEvent): string =>
  event.type === 'sms_inbound' ? tenantTopic(event.tenantId) : appTopic(event.appId)
