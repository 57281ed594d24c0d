import type { Entry, NumberQueue } from './number-queue.ts'
import type { Sender } from './sending-extension.ts'

/** The work that the scheduler delegates. */
export interface SchedulerTasks {
  /** Opens attempts for these entries and makes their calls. */
  begin(reservations: readonly Reservation[]): void
  /** Reads entries of the queue after its cursor. */
  readMore(queue: NumberQueue): void
  /** Called when no extension can send for the queue now. `entry` is its next one. */
  withoutSender(queue: NumberQueue, entry: Entry, sender: Exclude<Sender, { type: 'ready' }>): void
  /**
   * Called when the provider has said that the number does not belong to an extension, and `extensionId` could send the entry now. Returns
   * whether it must not send it.
   */
  numberMoved(queue: NumberQueue, entry: Entry, extensionId: string): boolean
  /** Called when the queue has entries with media, before the next one is chosen. */
  mediaWait(queue: NumberQueue): void
  /** Called when a call slot has become free. */
  slotFreed(): void
}

/**
 * An entry that may begin: it has a call slot and a slot in both rate windows, and its conversation is busy. One method of
 * `Reservations` ends it.
 */
export interface Reservation {
  readonly entry: Entry
  readonly extensionId: string
}
