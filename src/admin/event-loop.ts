import type { Clock } from '../core/clock.ts'

const EVERY_MS = 100

/** Reports every 100 ms how late a timer fired; the returned function ends this. */
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
