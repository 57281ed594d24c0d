import { readFileSync, readdirSync } from 'node:fs'

// Figures of a process from /proc. They throw on other systems than Linux.

const KIB_PER_MIB = 1024
/** `getconf CLK_TCK`, which Linux fixes at 100 for user space. */
const TICK_MS = 10

export const rssMib = (pid: number): number => statusField(`/proc/${pid}/status`, 'VmRSS') / KIB_PER_MIB

/** The highest RSS since the start of the process. */
export const peakRssMib = (pid: number): number => statusField(`/proc/${pid}/status`, 'VmHWM') / KIB_PER_MIB

/** The user and system time of all threads since the start, in milliseconds in steps of 10. */
export function cpuMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  // Fields 14 and 15. Field 2, the name, may contain spaces.
  const [user, system] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 13)
  return (Number(user) + Number(system)) * TICK_MS
}

/** How often the threads of a process have gone to sleep, which is how often they were woken. By the thread's name. */
export function sleeps(pid: number): Map<string, number> {
  const counts = new Map<string, number>()
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    const folder = `/proc/${pid}/task/${thread}`
    const name = readFileSync(`${folder}/comm`, 'utf8').trim()
    counts.set(name, (counts.get(name) ?? 0) + statusField(`${folder}/status`, 'voluntary_ctxt_switches'))
  }
  return counts
}

function statusField(path: string, name: string): number {
  const value = new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(readFileSync(path, 'utf8'))?.[1]
  if (value === undefined) throw new Error(`Cannot read ${name} of ${path}`)
  return Number(value)
}
