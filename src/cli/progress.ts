import type { CliContext } from './context.ts'

const BEGIN_AFTER_MS = 1000
const EVERY_MS = 200
const CLEAR_LINE = '\r\u001b[K'

/** Shows on a terminal how long something has taken, once it takes over a second. `state` may say how far it is. */
export async function withProgress<T>(
  context: CliContext,
  work: Promise<T>,
  state: () => string = () => 'waiting for the answer',
): Promise<T> {
  if (!context.showsProgress) return work
  const startedAt = performance.now()
  let isShown = false
  const timer = setInterval(() => {
    const ms = performance.now() - startedAt
    if (ms < BEGIN_AFTER_MS) return
    isShown = true
    context.stderr(`${CLEAR_LINE}… ${state()} (${Math.floor(ms / 1000)} s)`)
  }, EVERY_MS)
  try {
    return await work
  } finally {
    clearInterval(timer)
    if (isShown) context.stderr(CLEAR_LINE)
  }
}
