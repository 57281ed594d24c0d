import { isoTime } from '../core/clock.ts'
import type { ApiCall } from './api-call.ts'
import { apiError, invalidParameter, notFound, unreadableBody } from './errors.ts'
import { isConsents, isThreads, resolveFilters } from './event-filters.ts'
import { handshake, type HandshakeOutcome } from './handshake.ts'
import { asObject, empty, json, jsonObject, type Reply } from './http.ts'
import { scheduleReminders } from './reminders.ts'
import { hasPermission } from './settings.ts'
import type { Subscription, SubscriptionDraft } from './subscription-book.ts'
import type { World } from './world.ts'

/**
 * `POST /restapi/v1.0/subscription` (RingCentral API reference, "Create subscription"). The answer comes after the webhook
 * has passed the handshake. Equal subscriptions are not merged: two of them deliver every event twice.
 */
export async function createSubscription(api: ApiCall): Promise<Reply> {
  const { world, extension, clientId } = api
  const body = jsonObject(api.call.body)
  if (body === null) return unreadableBody(api.call.body)
  const mode = asObject(body['deliveryMode'])
  if (mode?.['transportType'] === 'WebSocket') return subscribeSocket(api, body)
  if (!hasPermission(world.settings, 'SubscriptionWebhook')) return noWebhooks()
  const draft = readDraft(api, body, mode)
  if ('status' in draft) return draft
  if (world.subscriptions.of(extension.id, clientId).length >= MAX_SUBSCRIPTIONS) return limitExceeded()
  const refusal = await checkWebhook(world, draft)
  if (refusal !== null) return refusal
  // Other subscriptions may have been created during the handshake.
  if (world.subscriptions.of(extension.id, clientId).length >= MAX_SUBSCRIPTIONS) return limitExceeded()
  const subscription = world.subscriptions.add(draft)
  scheduleReminders(world, subscription)
  return json(200, subscriptionInfo(world, subscription))
}

/**
 * A socket has one subscription: another one replaces it (RingCentral developer guide, "Subscribing to events via WebSockets"). It lives as
 * long as the session of the socket, and `expiresIn` is ignored.
 */
function subscribeSocket({ world, call, extension, clientId }: ApiCall, body: Members): Reply {
  const { socket } = call
  if (socket === undefined) return invalidParameter('deliveryMode.transportType')
  const filters = resolveFilters(extension, body['eventFilters'])
  if ('status' in filters) return filters
  world.subscriptions.deleteOf(socket)
  if (world.subscriptions.of(extension.id, clientId).length >= MAX_SUBSCRIPTIONS) return limitExceeded()
  const draft = { ...allowed(world, filters), address: '', socket, verificationToken: null }
  const made = { ...draft, extensionId: extension.id, clientId, ttlSeconds: DEFAULT_TTL_SECONDS }
  return json(200, subscriptionInfo(world, world.subscriptions.add(made)))
}

export function listSubscriptions({ world, extension, clientId }: ApiCall): Reply {
  const records = world.subscriptions.of(extension.id, clientId).map((one) => subscriptionInfo(world, one))
  return json(200, { uri: `${world.url}/restapi/v1.0/subscription`, records })
}

export const getSubscription = (api: ApiCall): Reply =>
  withSubscription(api, (subscription) => json(200, subscriptionInfo(api.world, subscription)))

/** `PUT` sets filters and lifetime. An empty body only renews. A new address is ignored, because it cannot be changed. */
export const updateSubscription = (api: ApiCall): Reply =>
  withSubscription(api, (subscription) => {
    if (isOutOfReach(api, subscription)) return notAllowed()
    const body = api.call.body.trim() === '' ? {} : jsonObject(api.call.body)
    if (body === null) return unreadableBody(api.call.body)
    const filters =
      body['eventFilters'] === undefined
        ? subscription.eventFilters
        : resolveFilters(api.extension, body['eventFilters'])
    if ('status' in filters) return filters
    const ttlSeconds = readTtl(body['expiresIn'] ?? subscription.ttlSeconds)
    if (ttlSeconds === null) return invalidParameter('expiresIn')
    Object.assign(subscription, { eventFilters: filters, ttlSeconds })
    return renewed(api.world, subscription)
  })

export const renewSubscription = (api: ApiCall): Reply =>
  withSubscription(api, (subscription) =>
    isOutOfReach(api, subscription) ? notAllowed() : renewed(api.world, subscription),
  )

export const deleteSubscription = (api: ApiCall): Reply =>
  withSubscription(api, (subscription) => {
    api.world.subscriptions.delete(subscription.id)
    return empty(204)
  })

const MAX_SUBSCRIPTIONS = 30
const DEFAULT_TTL_SECONDS = 604_800
const MAX_TTL_SECONDS = 315_360_000

function withSubscription(api: ApiCall, answer: (subscription: Subscription) => Reply): Reply {
  const subscription = api.world.subscriptions.get(api.ids[0] ?? '')
  const own = subscription?.extensionId === api.extension.id && subscription.clientId === api.clientId
  return own ? answer(subscription) : notFound('subscriptionId')
}

function renewed(world: World, subscription: Subscription): Reply {
  world.subscriptions.renew(subscription)
  scheduleReminders(world, subscription)
  return json(200, subscriptionInfo(world, subscription))
}

type Members = Record<string, unknown>

function readDraft(api: ApiCall, body: Members, mode: Members | null): SubscriptionDraft | Reply {
  const { world, extension, clientId } = api
  if (mode?.['transportType'] !== 'WebHook') return invalidParameter('deliveryMode.transportType')
  const { address, verificationToken = null } = mode
  const url = typeof address === 'string' ? URL.parse(address) : null
  if (url === null || !/^https?:$/.test(url.protocol)) return invalidParameter('deliveryMode.address')
  if (url.protocol === 'http:' && !world.settings.allowHttpWebhooks) return subError('SUB-523', 'HTTPS is required')
  if (verificationToken !== null && !isToken(verificationToken))
    return invalidParameter('deliveryMode.verificationToken')
  const filters = resolveFilters(extension, body['eventFilters'])
  if ('status' in filters) return filters
  const ttlSeconds = readTtl(body['expiresIn'] ?? DEFAULT_TTL_SECONDS)
  if (ttlSeconds === null) return invalidParameter('expiresIn')
  return {
    extensionId: extension.id,
    clientId,
    ...allowed(world, filters),
    address: String(address),
    socket: null,
    verificationToken,
    ttlSeconds: Math.min(ttlSeconds, world.settings.maxSubscriptionSeconds),
  }
}

/** The reference does not cover a filter for messages that the app may not read. We assume that the platform disables it. */
function allowed(world: World, filters: string[]): Pick<SubscriptionDraft, 'eventFilters' | 'disabledFilters'> {
  const { settings } = world
  const mayHave = (filter: string): boolean =>
    !settings.refuseFilters &&
    (isConsents(filter)
      ? settings.consents === 'shown' && hasPermission(settings, 'SMS')
      : isThreads(filter)
        ? settings.readThreads && hasPermission(settings, 'SMS')
        : hasPermission(settings, 'ReadMessages'))
  return {
    eventFilters: filters.filter(mayHave),
    disabledFilters: filters.filter((filter) => !mayHave(filter)),
  }
}

/** Whether the value can be sent in a header. */
const isToken = (value: unknown): value is string => typeof value === 'string' && /^[\x21-\x7e]{1,255}$/.test(value)

function readTtl(value: unknown): number | null {
  const fits = typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= MAX_TTL_SECONDS
  return fits ? value : null
}

async function checkWebhook(world: World, draft: SubscriptionDraft): Promise<Reply | null> {
  world.log.counters.handshakes++
  const { address, verificationToken } = draft
  const timeoutMs = world.settings.webhookTimeoutMs
  return handshakeError(await handshake({ address: new URL(address), verificationToken, timeoutMs }))
}

function handshakeError(outcome: HandshakeOutcome): Reply | null {
  if (outcome === 'ok') return null
  if (outcome === 'not-echoed') return subError('SUB-520', 'Validation Token is not returned')
  if (outcome === 'unreachable') return subError('SUB-521', 'WebHook is not reachable')
  if (outcome === 'bad-certificate') return subError('SUB-524', 'HTTPS certificate is not valid')
  if (outcome === 'invalid-response') return subError('SUB-525', 'WebHook server response is invalid')
  const status = outcome.wrongStatus
  return subError('SUB-522', `WebHook responds with incorrect HTTP status. HTTP status is ${status}`)
}

/** Subscription errors repeat their own code at the top level. */
const subError = (code: string, message: string): Reply => apiError(400, code, message)

const noWebhooks = (): Reply =>
  apiError(403, 'SUB-528', '[SubscriptionWebhook] application permission is required for [WebHook] transport')

/** The subscription of a socket cannot be changed or renewed by HTTP (RingCentral API reference, "Update subscription"). */
const isOutOfReach = ({ call }: ApiCall, { socket }: Subscription): boolean =>
  socket !== null && socket.token !== call.socket?.token

/** The code is not documented: we assume that of the other transports that cannot be changed in this way. */
const notAllowed = (): Reply => apiError(405, 'SUB-511', 'Action not allowed for WebSocket subscription')

const limitExceeded = (): Reply => apiError(403, 'SUB-505', 'Subscriptions limit exceeded')

/** `verificationToken` is write-only. */
function subscriptionInfo(world: World, subscription: Subscription): Record<string, unknown> {
  const { id, blacklisted, disabledFilters } = subscription
  const disabled = disabledFilters.map((filter) => ({ filter, reason: 'SUB-412', message: 'Filter is not allowed' }))
  return {
    uri: `${world.url}/restapi/v1.0/subscription/${id}`,
    id,
    creationTime: isoTime(subscription.createdAt),
    status: blacklisted === null ? 'Active' : 'Blacklisted',
    eventFilters: subscription.eventFilters,
    ...(disabled.length === 0 ? {} : { disabledFilters: disabled }),
    expirationTime: isoTime(subscription.expiresAt),
    expiresIn: Math.floor((subscription.expiresAt - world.clock.now()) / 1000),
    deliveryMode:
      subscription.socket === null
        ? { transportType: 'WebHook', encryption: false, address: subscription.address }
        : { transportType: 'WebSocket' },
    ...(blacklisted === null
      ? {}
      : { blacklistedData: { reason: blacklisted.reason, blacklistedAt: isoTime(blacklisted.at) } }),
  }
}
