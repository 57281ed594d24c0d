import { cpus } from 'node:os'

/** The measured program has one core; load, provider and simulator share the other. */
const CONTESTANT_CORE = '0'
const LOAD_CORE = '1'

const isPossible = (): boolean => Bun.which('taskset') !== null && cpus().length >= 2

/**
 * Keeps this process, and all that it starts, on the load's core until it is disposed. Measured programs are moved
 * with `toContestantCore`.
 */
export function holdLoadCore(): Disposable {
  const everyCore = `0-${cpus().length - 1}`
  if (isPossible()) move(process.pid, LOAD_CORE)
  return {
    [Symbol.dispose]: () => {
      if (isPossible()) move(process.pid, everyCore)
    },
  }
}

export function toContestantCore(pid: number): void {
  if (isPossible()) move(pid, CONTESTANT_CORE)
}

/** One sentence for the output. */
export const coresInUse = (): string =>
  isPossible()
    ? `contestants on core ${CONTESTANT_CORE}, load and provider on core ${LOAD_CORE} (taskset)`
    : 'contestants, load and provider share all cores (no taskset, or one core)'

/** With every thread that it has by now; later ones inherit from these. */
function move(pid: number, cores: string): void {
  Bun.spawnSync(['taskset', '--all-tasks', '--cpu-list', '--pid', cores, String(pid)], { stdout: 'ignore' })
}
