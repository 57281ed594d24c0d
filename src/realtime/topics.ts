import type { GatewayEvent } from './hub.ts'

/** What is for one app. */
export const appTopic = (appId: string): string => `a:${appId}`
/** What is for every app of a tenant. */
export const tenantTopic = (tenantId: string): string => `t:${tenantId}`

/** Who hears an event: the app that it names, else the whole tenant. The pages of `GET /v1/events` follow the same rule. */
export const topicOf = (event: GatewayEvent): string =>
  'appId' in event ? appTopic(event.appId) : tenantTopic(event.tenantId)
