import { now } from '../state/clock.ts'

/** Starts the clock. A hidden page does not tick. */
export function startClock(): void {
  const tick = (): void => {
    if (!document.hidden) now.value = Date.now()
    setTimeout(tick, 1000 - (Date.now() % 1000))
  }
  tick()
  document.addEventListener('visibilitychange', () => void (now.value = Date.now()))
}
