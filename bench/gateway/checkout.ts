import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PROJECT } from '../../test/support/program.ts'
import type { Source } from './source.ts'

/**
 * Checks out a commit into a temporary folder and installs its dependencies there. `ref` is the label of the source.
 * Disposing the source deletes the folder. `git archive`, unlike `git worktree`, leaves nothing in the repository if the
 * bench is killed. Throws if the commit is unknown or its dependencies cannot be installed.
 */
export function checkOut(ref: string, repository: string = PROJECT): Source & Disposable {
  const commit = run(['git', 'rev-parse', '--verify', '--end-of-options', `${ref}^{commit}`], repository)
  const folder = mkdtempSync(join(tmpdir(), 'sgw-bench-checkout-'))
  const remove = (): void => rmSync(folder, { recursive: true, force: true })
  process.once('exit', remove)
  try {
    const archive = join(folder, 'source.tar')
    run(['git', 'archive', '--format=tar', `--output=${archive}`, commit], repository)
    run(['tar', '-xf', archive], folder)
    rmSync(archive)
    run([process.execPath, 'install', '--frozen-lockfile'], folder)
    return { label: ref, folder, [Symbol.dispose]: remove }
  } catch (error) {
    remove()
    throw error
  }
}

function run(command: string[], cwd: string): string {
  const { success, stdout, stderr } = Bun.spawnSync(command, { cwd, stdout: 'pipe', stderr: 'pipe' })
  if (!success) throw new Error(`Cannot check out another commit: ${command.join(' ')}: ${stderr.toString().trim()}`)
  return stdout.toString().trim()
}
