import { chmodSync, chownSync } from 'node:fs'
import { join } from 'node:path'
import { BASE_ENVIRONMENT } from './environment.ts'
import { PROJECT, type Finished, finished } from './program.ts'

const IS_ROOT = process.getuid?.() === 0
const NOBODY = 65_534

/** Runs a program of the project as a user to whom permissions apply: as root, who can read everything, but without root's capabilities. */
export function runUnprivileged(words: readonly string[], env: Record<string, string>): Promise<Finished> {
  const [file = '', ...rest] = words
  const without = IS_ROOT ? ['setpriv', '--inh-caps=-all', '--bounding-set=-all'] : []
  return finished([...without, process.execPath, join(PROJECT, file), ...rest], {
    ...BASE_ENVIRONMENT,
    NO_COLOR: '1',
    ...env,
  })
}

/** Gives a file or folder to another user, who keeps it private; without root's rights, takes the rights of this one. */
export function takeAway(path: string, mode = 0o600): void {
  if (IS_ROOT) chownSync(path, NOBODY, NOBODY)
  chmodSync(path, IS_ROOT ? mode : 0)
}

/** Ends that. */
export function giveBack(path: string): void {
  if (IS_ROOT) chownSync(path, 0, 0)
  chmodSync(path, 0o700)
}

const nameOf = (uid: number | undefined): string =>
  Bun.spawnSync(['id', '-nu', String(uid)])
    .stdout.toString()
    .trim() || String(uid)

/** The users of these tests, as the system calls them: who runs the program, and to whom `takeAway` gives. */
export const ME = nameOf(process.getuid?.())
export const OTHER = IS_ROOT ? nameOf(NOBODY) : ME
