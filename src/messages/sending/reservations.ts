import type { OpenAttempt } from './number-queue.ts'
import type { Reservation } from './scheduler-tasks.ts'
import type { Scheduler } from './scheduler.ts'

const ENDED: unique symbol = Symbol('ended')
const CALLED: unique symbol = Symbol('called')

/** Shows that a reservation has ended. Only `Reservations` makes it. */
export type ReservationEnd = typeof ENDED

/** A reservation whose call has returned. Only `Reservations` makes it. */
export interface Called {
  readonly [CALLED]: Reservation
}

/**
 * Makes the calls of reservations and ends them. Each method except `call` ends a reservation and returns a `ReservationEnd`. Functions that
 * receive a reservation must return one as well, so one that forgets to end it does not compile.
 */
export class Reservations {
  constructor(readonly scheduler: Scheduler) {}

  /** Makes a call. Its call slot stays taken until the reservation ends. Rejects as `run` does; the outcome is then unknown. */
  async call<T>(reservation: Reservation, run: () => Promise<T>): Promise<{ called: Called; result: T }> {
    try {
      return { result: await run(), called: { [CALLED]: reservation } }
    } finally {
      this.#callReturned(reservation)
    }
  }

  /** The provider did not accept the message, and its attempt is closed: it waits for another attempt. */
  retry({ [CALLED]: reservation }: Called): ReservationEnd {
    this.scheduler.freeConversation(reservation.entry)
    this.scheduler.add(reservation.entry)
    return this.#release(reservation)
  }

  /** The message has ended with its attempt. */
  forget({ [CALLED]: reservation }: Called): ReservationEnd {
    this.scheduler.forget(reservation.entry)
    return this.#release(reservation)
  }

  /** The outcome is unknown, so the attempt stays open until a lookup closes it. */
  keepOpen(reservation: Reservation): ReservationEnd {
    return this.#release(reservation)
  }

  /** No attempt was opened: the entry returns to its queue. */
  putBack(reservation: Reservation): ReservationEnd {
    this.#giveBack(reservation)
    this.scheduler.add(reservation.entry)
    return this.#release(reservation)
  }

  /** The message was committed without an attempt: it enters its queue. */
  enter(reservation: Reservation): ReservationEnd {
    this.#giveBack(reservation)
    this.scheduler.enter(reservation.entry)
    return this.#release(reservation)
  }

  /** No attempt was opened, and the message has ended or was not stored. */
  drop(reservation: Reservation): ReservationEnd {
    this.#giveBack(reservation)
    this.scheduler.forget(reservation.entry)
    return this.#release(reservation)
  }

  /** An attempt without a call was opened. It stays open until a lookup closes it. */
  openWithoutCall(reservation: Reservation, attempt: OpenAttempt): ReservationEnd {
    this.#giveBack(reservation)
    reservation.entry.attempt = attempt
    this.scheduler.addOpen(reservation.entry)
    return this.#release(reservation)
  }

  #callReturned({ entry, extensionId }: Reservation): void {
    const { context, slots } = this.scheduler
    context.quota.callReturned(entry.queue.number, extensionId)
    slots.callReturned(entry)
    this.scheduler.plan()
  }

  /** Gives the window slots back: no call was made. */
  #giveBack({ entry, extensionId }: Reservation): void {
    this.scheduler.context.quota.giveBack(entry.queue.number, extensionId)
    this.scheduler.freeConversation(entry)
  }

  #release(reservation: Reservation): ReservationEnd {
    this.scheduler.slots.free(reservation.entry)
    this.scheduler.slotFreed(reservation)
    return ENDED
  }
}
