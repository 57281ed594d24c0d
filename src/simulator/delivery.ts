import { directIfLocal } from '../core/proxy.ts'
import type { RawCall } from './call-record.ts'
import { empty, type SocketOrigin } from './http.ts'
import { notification } from './socket-frames.ts'
import type { Subscription } from './subscription-book.ts'
import type { World } from './world.ts'

/**
 * Delivers one event (RingCentral developer guide, "Receiving webhooks", "Receiving event notifications via WebSockets"). A POST must be
 * answered with 200 within 3 s and is never repeated. Failures over ten minutes blacklist the subscription.
 */
export async function deliverOnce(world: World, subscription: Subscription, event: EventEnvelope): Promise<Delivery> {
  if (world.stopping.signal.aborted) return { subscriptionId: subscription.id, outcome: 'dropped', status: null }
  if (subscription.socket !== null) return dispatch(world, subscription, subscription.socket, event)
  const result = await request(world, subscription, JSON.stringify(event))
  if (result.status === 200) {
    subscription.failingSince = null
    world.log.counters.eventsDelivered++
    return { subscriptionId: subscription.id, outcome: 'delivered', status: 200 }
  }
  noteFailure(world, subscription, result.reason)
  return { subscriptionId: subscription.id, outcome: 'failed', status: result.status }
}

export interface Delivery {
  subscriptionId: string
  outcome: 'delivered' | 'failed' | 'dropped' | 'delayed'
  /** The webhook's HTTP status; null when there was no answer. For an open socket 200, which nobody has acknowledged. */
  status: number | null
}

export interface EventEnvelope {
  uuid: string
  event: string
  timestamp: string
  subscriptionId: string
  ownerId: string
  body: Record<string, unknown>
}

/** No frame is acknowledged. */
function dispatch(world: World, { id }: Subscription, socket: SocketOrigin, event: EventEnvelope): Delivery {
  const outcome = world.sockets.push(socket, notification(event))
  const { log, calls, clock } = world
  if (outcome === 'lost') log.counters.eventsDropped++
  if (outcome === 'sent') log.counters.eventsDelivered++
  calls.add({
    ...EVENT_CALL,
    at: clock.now(),
    durationMs: 0,
    method: 'ServerNotification',
    path: new URL(world.sockets.uri).pathname,
    request: { headers: {}, body: JSON.stringify(event) },
    response: outcome === 'sent' ? { ...empty(200) } : null,
  })
  return { subscriptionId: id, ...DISPATCHED[outcome] }
}

const DISPATCHED = {
  sent: { outcome: 'delivered', status: 200 },
  kept: { outcome: 'delayed', status: null },
  lost: { outcome: 'dropped', status: null },
} as const

const EVENT_CALL = { direction: 'in', route: 'event', fault: null } as const

interface WebhookAnswer {
  status: number | null
  /** For `blacklistedData.reason`, in the platform's words. */
  reason: string
}

async function request(world: World, subscription: Subscription, body: string): Promise<WebhookAnswer> {
  const at = world.clock.now()
  const startedAt = performance.now()
  const headers = eventHeaders(subscription)
  const record = (response: RawCall['response']): void =>
    world.calls.add({
      ...EVENT_CALL,
      at,
      durationMs: Math.round(performance.now() - startedAt),
      method: 'POST',
      path: new URL(subscription.address).pathname,
      request: { headers, body },
      response,
    })
  try {
    const response = await fetch(subscription.address, {
      method: 'POST',
      headers,
      body,
      redirect: 'manual',
      ...directIfLocal(subscription.address),
      signal: AbortSignal.any([world.stopping.signal, AbortSignal.timeout(world.settings.webhookTimeoutMs)]),
    })
    const { status, statusText } = response
    record({ status, headers: Object.fromEntries(response.headers), body: await response.text().catch(() => '') })
    return { status, reason: `Webhook responses with code: [${status}], reason: [${statusText}]` }
  } catch (error) {
    record(null)
    const timedOut = error instanceof Error && error.name === 'TimeoutError'
    return {
      status: null,
      reason: `I/O operation is failed. Details: [${timedOut ? 'Read timed out' : 'Connection failed'}]`,
    }
  }
}

const eventHeaders = (subscription: Subscription): Record<string, string> => ({
  Accept: 'application/json',
  'Accept-Encoding': 'UTF-8',
  'Content-Type': 'application/json; charset=UTF-8',
  'User-Agent': 'RingCentral-Webhook/8.3',
  ...(subscription.verificationToken === null ? {} : { 'Verification-Token': subscription.verificationToken }),
})

function noteFailure(world: World, subscription: Subscription, reason: string): void {
  const now = world.clock.now()
  world.log.counters.eventsFailed++
  subscription.failingSince ??= now
  if (now - subscription.failingSince < world.settings.blacklistAfterMs) return
  subscription.blacklisted ??= { reason, at: now }
}
