import type { GatewayEvent } from './event.ts'

/** The topic of events for one app. */
export const appTopic = (appId: string): string => `a:${appId}`
/** The topic of events for every app of a tenant. */
export const tenantTopic = (tenantId: string): string => `t:${tenantId}`

/** The topic of an event: the app that it names, otherwise all apps of the tenant. `GET /v1/events` follows the same rule. */
export const topicOf = (event: GatewayEvent): string =>
  'appId' in event ? appTopic(event.appId) : tenantTopic(event.tenantId)
