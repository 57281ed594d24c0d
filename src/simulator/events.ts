import { isoTime } from '../core/clock.ts'
import { directIfLocal } from '../core/proxy.ts'
import type { RawCall } from './call-record.ts'
import type { Extension } from './directory.ts'
import { changeBody, instantBody, type EventForm } from './event-body.ts'
import { isChangeOf, isInstant } from './event-filters.ts'
import type { Message } from './messages.ts'
import type { Subscription } from './subscription-book.ts'
import type { World } from './world.ts'

/**
 * Event delivery over webhooks (RingCentral developer guide, "Receiving webhooks"): one POST per subscription and filter,
 * which must be answered with 200 within 3 s and is never repeated. Failures over ten minutes blacklist the subscription.
 */
export async function announceInbound(world: World, message: Message, form: EventForm): Promise<Delivery[]> {
  const instant = matching(world, message, isInstant).map(({ subscription, filter, reader }) =>
    deliver(
      world,
      subscription,
      envelope(world, subscription, filter, instantBody(world, message, reader, form), form),
    ),
  )
  return (await Promise.all([...instant, announceChange(world, message, 'new')])).flat()
}

/** Sends a message-store change to its subscribers. */
export async function announceChange(world: World, message: Message, kind: 'new' | 'updated'): Promise<Delivery[]> {
  const targets = matching(world, message, (filter) => isChangeOf(filter, message.direction))
  const deliveries = targets.map(({ subscription, filter, reader }) => {
    const body = changeBody(message, reader, kind, world.clock.now())
    return deliver(world, subscription, envelope(world, subscription, filter, body, 'current'))
  })
  return (await Promise.all(deliveries)).flat()
}

export const hasChangeSubscribers = (world: World, message: Message): boolean =>
  matching(world, message, (filter) => isChangeOf(filter, message.direction)).length > 0

export interface Delivery {
  subscriptionId: string
  outcome: 'delivered' | 'failed' | 'dropped' | 'delayed'
  /** The webhook's HTTP status; null when there was no answer. */
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

interface Target {
  subscription: Subscription
  filter: string
  /** The subscription's user. */
  reader: Extension
}

function matching(world: World, message: Message, covers: (filter: string) => boolean): Target[] {
  const readers = world.directory
    .readersOf(message.extensionId)
    .filter(({ id, status }) => status === 'Enabled' && (id === message.extensionId || world.settings.queueEvents))
  return world.subscriptions.all().flatMap((subscription) => {
    const reader = readers.find(({ id }) => id === subscription.extensionId)
    if (reader === undefined || subscription.blacklisted !== null) return []
    return subscription.eventFilters.filter(covers).map((filter) => ({ subscription, filter, reader }))
  })
}

export function envelope(
  world: World,
  subscription: Subscription,
  filter: string,
  body: Record<string, unknown>,
  form: EventForm,
): EventEnvelope {
  return {
    uuid: form === 'old' ? crypto.randomUUID() : numericUuid(),
    event: form === 'old' ? filter.replace(/\/account\/\d+\//, '/account/~/') : filter,
    timestamp: isoTime(world.clock.now()),
    subscriptionId: subscription.id,
    ownerId: String(subscription.extensionId),
    body,
  }
}

const numericUuid = (): string => String((crypto.getRandomValues(new BigUint64Array(1))[0] ?? 0n) >> 1n)

/** Sends one event, unless a fault prevents it. */
export async function deliver(world: World, subscription: Subscription, event: EventEnvelope): Promise<Delivery[]> {
  const fault = world.eventFaults.draw(subscription.id)
  if (fault?.kind === 'drop') {
    world.log.counters.eventsDropped++
    return [{ subscriptionId: subscription.id, outcome: 'dropped', status: null }]
  }
  if (fault?.kind === 'delay') {
    world.clock.after(fault.ms ?? 0, () => void track(world, post(world, subscription, event)))
    return [{ subscriptionId: subscription.id, outcome: 'delayed', status: null }]
  }
  const copies = fault?.kind === 'duplicate' ? (fault.copies ?? 2) : 1
  return Promise.all(Array.from({ length: copies }, () => track(world, post(world, subscription, event))))
}

function track<T>(world: World, delivery: Promise<T>): Promise<T> {
  world.deliveries.add(delivery)
  return delivery.finally(() => world.deliveries.delete(delivery))
}

async function post(world: World, subscription: Subscription, event: EventEnvelope): Promise<Delivery> {
  if (world.stopping.signal.aborted) return { subscriptionId: subscription.id, outcome: 'dropped', status: null }
  const result = await request(world, subscription, JSON.stringify(event))
  if (result.status === 200) {
    subscription.failingSince = null
    world.log.counters.eventsDelivered++
    return { subscriptionId: subscription.id, outcome: 'delivered', status: 200 }
  }
  noteFailure(world, subscription, result.reason)
  return { subscriptionId: subscription.id, outcome: 'failed', status: result.status }
}

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
      at,
      durationMs: Math.round(performance.now() - startedAt),
      direction: 'in',
      route: 'event',
      method: 'POST',
      path: new URL(subscription.address).pathname,
      request: { headers, body },
      response,
      fault: null,
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
