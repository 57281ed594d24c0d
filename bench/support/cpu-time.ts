import { readFileSync } from 'node:fs'

/** Linux reports these times in hundredths of a second (`getconf CLK_TCK`). */
const MICROSECONDS_PER_TICK = 10_000
/** The positions of `utime`, `stime`, `cutime` and `cstime` after the program's name, proc(5). */
const TIMES = [11, 12, 13, 14] as const

/** The user and system time of these processes and their ended children. It is 0 without /proc. */
export const cpuMicroseconds = (pids: readonly number[]): number =>
  pids.reduce((sum, pid) => sum + ticksOf(pid), 0) * MICROSECONDS_PER_TICK

function ticksOf(pid: number): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The name may contain spaces and brackets.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return TIMES.reduce((sum, at) => sum + Number(fields[at]), 0)
  } catch {
    return 0
  }
}
