import { cpus } from 'node:os'

/** The measured program has one core. Load, provider and simulator share the other. */
const CONTESTANT_CORE = '0'
const LOAD_CORE = '1'

const isPossible = (): boolean => Bun.which('taskset') !== null && cpus().length >= 2

/**
 * Keeps this process and its children on the load's core until it is disposed. Move measured programs with
 * `toContestantCore`.
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

/** Describes the assignment of cores for the output. */
export const coresInUse = (): string =>
  isPossible()
    ? `contestants on core ${CONTESTANT_CORE}, load and provider on core ${LOAD_CORE} (taskset)`
    : 'contestants, load and provider share all cores (no taskset, or one core)'

/** Moves all threads of the process. Later threads inherit the core. */
function move(pid: number, cores: string): void {
  Bun.spawnSync(['taskset', '--all-tasks', '--cpu-list', '--pid', cores, String(pid)], { stdout: 'ignore' })
}
