import { reminderOf } from './event-filters.ts'
import { deliver, envelope } from './events.ts'
import type { Subscription } from './subscription-book.ts'
import type { World } from './world.ts'

/**
 * Renewal reminders (RingCentral developer guide, "Subscription renewal reminder"): one event per `interval` seconds,
 * starting `threshold` seconds before expiry. A renewal moves the expiry, so each timer checks the expiry before it sends.
 */
export function scheduleReminders(world: World, subscription: Subscription): void {
  for (const filter of subscription.eventFilters) {
    const reminder = reminderOf(filter)
    if (reminder !== null)
      scheduleNext(world, subscription, filter, untilThreshold(world, subscription, reminder.threshold))
  }
}

function untilThreshold(world: World, subscription: Subscription, thresholdSeconds: number): number {
  return Math.max(0, subscription.expiresAt - thresholdSeconds * 1000 - world.clock.now())
}

function scheduleNext(world: World, subscription: Subscription, filter: string, delayMs: number): void {
  const expiresAt = subscription.expiresAt
  world.clock.after(delayMs, () => {
    const gone = world.stopping.signal.aborted || world.subscriptions.get(subscription.id) === undefined
    // A renewal schedules its own reminders.
    if (gone || subscription.expiresAt !== expiresAt || subscription.blacklisted !== null) return
    const body = { expiresIn: Math.floor((expiresAt - world.clock.now()) / 1000) }
    void deliver(world, subscription, envelope(world, subscription, filter, body, 'current'))
    scheduleNext(world, subscription, filter, Math.max(1, reminderOf(filter)?.interval ?? 1) * 1000)
  })
}
