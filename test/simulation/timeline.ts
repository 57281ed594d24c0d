import { drainMicrotasks } from 'bun:jsc'
import type { Random } from './random.ts'

/** The owner of events. Events of a dead owner never happen, and events of a paused owner wait. */
export interface Owner {
  alive: boolean
  pausedUntil: number
}

interface Event {
  at: number
  tie: number
  owner: Owner | null
  run(): void
}

/**
 * Simulated time. Events happen in the order of their times, and simultaneous events in random order. All promises are
 * handled between two events, so that only the timeline decides what happens next.
 */
export class Timeline {
  /** True time, epoch milliseconds. */
  now = Date.parse('2026-11-21T02:30:00.000Z')
  /** The number of events of owners so far. */
  steps = 0
  readonly #heap: Event[] = []

  constructor(readonly random: Random) {}

  /** Runs `callback` after `delayMs`. Returns a function that cancels it. */
  after(owner: Owner | null, delayMs: number, callback: () => void): () => void {
    const event = { at: this.now + Math.max(0, delayMs), tie: this.random.next(), owner, run: callback }
    this.#push(event)
    return () => {
      event.run = nothing
    }
  }

  /** Runs the next event. If there is none before `until`, advances to `until` and returns false. */
  step(until: number): boolean {
    for (;;) {
      const event = this.#heap[0]
      if (event === undefined || event.at > until) {
        this.now = Math.max(this.now, until)
        return false
      }
      this.#pop()
      const { owner } = event
      if (event.run === nothing || owner?.alive === false) continue
      if (owner !== null && owner.pausedUntil > event.at) {
        this.#push({ ...event, at: owner.pausedUntil })
        continue
      }
      this.now = Math.max(this.now, event.at)
      if (owner !== null) this.steps++
      event.run()
      drainMicrotasks()
      return true
    }
  }

  #push(event: Event): void {
    const heap = this.#heap
    let index = heap.length
    heap.push(event)
    while (index > 0) {
      const parent = (index - 1) >> 1
      const above = heap[parent]
      if (above === undefined || !isBefore(event, above)) break
      heap[index] = above
      index = parent
    }
    heap[index] = event
  }

  #pop(): void {
    const heap = this.#heap
    const last = heap.pop()
    if (last === undefined || heap.length === 0) return
    let index = 0
    for (;;) {
      const left = heap[index * 2 + 1]
      const right = heap[index * 2 + 2]
      if (left === undefined) break
      const child = right !== undefined && isBefore(right, left) ? right : left
      if (!isBefore(child, last)) break
      heap[index] = child
      index = index * 2 + (child === left ? 1 : 2)
    }
    heap[index] = last
  }
}

const isBefore = (one: Event, other: Event): boolean =>
  one.at < other.at || (one.at === other.at && one.tie < other.tie)

const nothing = (): void => {}

/** Returns the outcome of a promise that waits only for other promises. Call it only between events. */
export function outcomeOf<T>(promise: Promise<T>): { ok: true; value: T } | { ok: false; error: Error } {
  const box: { outcome: { ok: true; value: T } | { ok: false; error: Error } | null } = { outcome: null }
  promise.then(
    (value) => (box.outcome = { ok: true, value }),
    (error: unknown) => (box.outcome = { ok: false, error: error instanceof Error ? error : new Error(String(error)) }),
  )
  drainMicrotasks()
  if (box.outcome === null) throw new Error('The promise waits for something that is not simulated')
  return box.outcome
}

export function valueOf<T>(promise: Promise<T>): T {
  const outcome = outcomeOf(promise)
  if (!outcome.ok) throw outcome.error
  return outcome.value
}
