import { readFileSync, readdirSync } from 'node:fs'

/** The nanoseconds for which each thread of a process has had a processor, by its id. */
export type ThreadTimes = ReadonlyMap<number, number>

/** Threads that compile hot code. They run for minutes, in a different order after each start, and no message needs them. */
const COMPILER = 'JITWorker\n'

/**
 * Reads /proc, to the nanosecond: `/proc/PID/stat` counts in hundredths of a second. Without the compiler's threads. Throws on other systems
 * than Linux.
 */
export function threadTimes(pid: number): ThreadTimes {
  const threads = readdirSync(`/proc/${pid}/task`).map(Number)
  return new Map(threads.flatMap((thread) => timeOf(pid, thread)))
}

/** What all threads of the process have used since then. A thread that has ended meanwhile is left out. */
export function microsecondsSince(before: ThreadTimes, pid: number): number {
  const used = [...threadTimes(pid)].map(([thread, time]) => time - (before.get(thread) ?? 0))
  return used.reduce((sum, time) => sum + time, 0) / 1000
}

/** Nothing for a thread that ends just now. */
function timeOf(pid: number, thread: number): [number, number][] {
  try {
    if (readFileSync(`/proc/${pid}/task/${thread}/comm`, 'utf8') === COMPILER) return []
    const [ran] = readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')
    return [[thread, Number(ran)]]
  } catch {
    return []
  }
}
