import { isoTime } from '../core/clock.ts'
import { type Delivery, deliverOnce, type EventEnvelope } from './delivery.ts'
import type { Extension } from './directory.ts'
import { changeBody, instantBody, type EventForm } from './event-body.ts'
import { isChangeOf, isConsents, isInstant, isThreads } from './event-filters.ts'
import type { Message } from './messages.ts'
import type { Subscription } from './subscription-book.ts'
import type { World } from './world.ts'

/** Sends the events of a new inbound message to its subscribers, one per subscription and filter. */
export async function announceInbound(world: World, message: Message, form: EventForm): Promise<Delivery[]> {
  if (message.isThreaded) return announceThreads(world, message)
  const instant = matching(world, message, isInstant).map(({ subscription, filter, reader }) =>
    deliver(
      world,
      subscription,
      envelope(world, subscription, filter, instantBody(world, message, reader, form), form),
    ),
  )
  return (await Promise.all([...instant, announceChange(world, message, 'new')])).flat()
}

/** Tells that entries of threads have changed, but not which (RingCentral developer guide, "Thread messaging event notifications"). */
async function announceThreads(world: World, message: Message): Promise<Delivery[]> {
  const body = { lastModifiedTime: isoTime(message.createdAt) }
  const deliveries = matching(world, message, isThreads).map(({ subscription, filter }) =>
    deliver(world, subscription, envelope(world, subscription, filter, body, 'current')),
  )
  return (await Promise.all(deliveries)).flat()
}

/** Tells the subscribers of an account that a consent has changed. The content of the body is not published, so it is empty. */
export async function announceConsents(world: World, accountId: number): Promise<Delivery[]> {
  if (world.settings.consents !== 'shown') return []
  const deliveries = world.subscriptions.all().flatMap((subscription) => {
    const reader = world.directory.extension(subscription.extensionId)
    if (reader?.accountId !== accountId || reader.status !== 'Enabled' || subscription.blacklisted !== null) return []
    return subscription.eventFilters
      .filter(isConsents)
      .map((filter) => deliver(world, subscription, envelope(world, subscription, filter, {}, 'current')))
  })
  return (await Promise.all(deliveries)).flat()
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

interface Target {
  subscription: Subscription
  filter: string
  /** The subscription's user. */
  reader: Extension
}

function matching(world: World, message: Message, covers: (filter: string) => boolean): Target[] {
  const readers = world.directory
    .readersOf(message.extensionId)
    .filter(({ status }) => status === 'Enabled')
    .filter(({ id }) => id === message.extensionId || message.isThreaded || world.settings.queueEvents)
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
  const fault = world.eventFaults.draw(subscription)
  if (fault?.kind === 'drop') {
    world.log.counters.eventsDropped++
    return [{ subscriptionId: subscription.id, outcome: 'dropped', status: null }]
  }
  if (fault?.kind === 'delay') {
    world.clock.after(fault.ms ?? 0, () => void track(world, deliverOnce(world, subscription, event)))
    return [{ subscriptionId: subscription.id, outcome: 'delayed', status: null }]
  }
  const copies = fault?.kind === 'duplicate' ? (fault.copies ?? 2) : 1
  return Promise.all(Array.from({ length: copies }, () => track(world, deliverOnce(world, subscription, event))))
}

function track<T>(world: World, delivery: Promise<T>): Promise<T> {
  world.deliveries.add(delivery)
  return delivery.finally(() => world.deliveries.delete(delivery))
}
