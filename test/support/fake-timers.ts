import { jest, onTestFinished } from 'bun:test'

/** Replaces the process's timers and clocks by manual ones until the test ends, for code that takes no clock. */
export function fakeTimers(): { advance(ms: number): void } {
  jest.useFakeTimers()
  onTestFinished(() => void jest.useRealTimers())
  return { advance: (ms) => void jest.advanceTimersByTime(ms) }
}
