import { readFileSync, readdirSync } from 'node:fs'
import { getPriority, setPriority } from 'node:os'
import type { Clock } from '../core/clock.ts'

/** What Bun calls the thread that carries the calls of `fetch`. It is there from the first call on. */
const THREAD = 'HTTP Client'
const TASKS = '/proc/self/task'
/** Added to the process's nice value: enough that a call does not take the processor from its caller, and still a quarter of a busy one. */
const STEPS = 5
const NICEST = 19
const FIRST_LOOK_MS = 1000
const LOOK_EVERY_MS = 5000

/**
 * Has Bun's HTTP thread step back behind the main thread, once there is one: fifty calls that follow a commit then wake it
 * once where they shared a processor, and not each in the middle of the main thread's turn (decision 23). On Linux, where
 * threads have priorities of their own; elsewhere nothing happens.
 */
export function letHttpThreadStepBack(clock: Clock, delayMs = FIRST_LOOK_MS): void {
  if (process.platform !== 'linux') return
  clock.after(delayMs, () => {
    if (!stepBack()) letHttpThreadStepBack(clock, LOOK_EVERY_MS)
  })
}

/** False as long as there is no such thread. */
function stepBack(): boolean {
  try {
    const threads = readdirSync(TASKS).filter((id) => readFileSync(`${TASKS}/${id}/comm`, 'utf8').trim() === THREAD)
    for (const id of threads) setPriority(Number(id), Math.min(getPriority() + STEPS, NICEST))
    return threads.length > 0
  } catch {
    // A thread that ended meanwhile, or a system that keeps its processes to itself.
    return false
  }
}
