import { existsSync, readFileSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'

const ROOT = resolve(import.meta.dir, '../..')
const SHORT = 7

/** The first digits of the commit of this tree; null outside a checkout. A build replaces this module with a constant. */
export const COMMIT: string | null = readCommit(join(ROOT, '.git'))

/** Reads the files of Git, because starting `git` takes longer than everything else in `--version`. */
function readCommit(path: string): string | null {
  try {
    const folder = statSync(path).isFile() ? resolve(ROOT, contentOf(path).replace('gitdir: ', '')) : path
    const head = contentOf(join(folder, 'HEAD'))
    return (head.startsWith('ref: ') ? commitOf(folder, head.slice('ref: '.length)) : head)?.slice(0, SHORT) ?? null
  } catch {
    return null
  }
}

function commitOf(folder: string, ref: string): string | null {
  // A worktree keeps its branches in the folder of the repository.
  const shared = join(folder, 'commondir')
  const repository = existsSync(shared) ? resolve(folder, contentOf(shared)) : folder
  if (existsSync(join(repository, ref))) return contentOf(join(repository, ref))
  const packed = contentOf(join(repository, 'packed-refs')).split('\n')
  return packed.find((line) => line.endsWith(` ${ref}`)) ?? null
}

function contentOf(path: string): string {
  return readFileSync(path, 'utf8').trim()
}
