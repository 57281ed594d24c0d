import type { GatewayEvent } from './event.ts'

/** The topic of events for one app. */
const appTopic = (appId: string): string => `a:${appId}`
/** The topic of events for every app of a tenant. */
export const tenantTopic = (tenantId: string): string => `t:${tenantId}`

/** The topic of events for one app that operators of the tenant hear too. */
export const operatorTopic = (tenantId: string): string => `o:${tenantId}`

/** The topic of a socket's events that are not for every app of the tenant. An operator's socket has no app. */
export const ownTopic = ({ appId, tenantId }: { appId: string; tenantId: string }): string =>
  appId === '' ? operatorTopic(tenantId) : appTopic(appId)

/** The topic of an event: the app that it names, otherwise all apps of the tenant. `GET /v1/events` follows the same rule. */
export const topicOf = (event: GatewayEvent): string =>
  'appId' in event ? appTopic(event.appId) : tenantTopic(event.tenantId)
