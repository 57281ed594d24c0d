import { jest, onTestFinished } from 'bun:test'

/** Until the test ends, the process's own timers and clocks stand still until told, for code that takes no clock. */
export function fakeTimers(): { advance(ms: number): void } {
  jest.useFakeTimers()
  onTestFinished(() => void jest.useRealTimers())
  return { advance: (ms) => void jest.advanceTimersByTime(ms) }
}
