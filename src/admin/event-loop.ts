import type { Clock } from '../core/clock.ts'

const EVERY_MS = 100

/** Reports again and again how late a timer fires; the answer ends it. */
export function watchEventLoop(clock: Clock, report: (lagSeconds: number) => void): () => void {
  let cancel: () => void = () => undefined
  const plan = (): void => {
    const dueAt = clock.monotonic() + EVERY_MS
    cancel = clock.after(EVERY_MS, () => {
      report(Math.max(0, clock.monotonic() - dueAt) / 1000)
      plan()
    })
  }
  plan()
  return () => cancel()
}
