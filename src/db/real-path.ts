import { readlinkSync, realpathSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'

const MAX_LINKS = 40

/**
 * The path without symbolic links, even for a file that does not exist yet. SQLite derives the name of its log from the name that it opens, so
 * two names of one database would be two logs.
 */
export function realPathOf(path: string, links = 0): string {
  try {
    return realpathSync(path)
  } catch {
    const absolute = resolve(path)
    const target = links < MAX_LINKS ? linkTarget(absolute) : null
    if (target !== null) return realPathOf(resolve(dirname(absolute), target), links + 1)
    const folder = dirname(absolute)
    return folder === absolute ? absolute : join(realPathOf(folder, links), basename(absolute))
  }
}

function linkTarget(path: string): string | null {
  try {
    return readlinkSync(path)
  } catch {
    return null
  }
}
