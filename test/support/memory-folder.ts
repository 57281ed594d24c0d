import { mkdtempSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const MEMORY = '/dev/shm'
/** Docker's 64 MB are too few for some tests. */
const NEEDED_BYTES = 1e9

/** Creates an empty folder, in memory if there is enough space, so that commits do not wait for a disk. */
export const folderInMemory = (): string => mkdtempSync(join(hasRoom() ? MEMORY : tmpdir(), 'sgw-test-'))

function hasRoom(): boolean {
  try {
    const { bavail, bsize } = statfsSync(MEMORY)
    return bavail * bsize >= NEEDED_BYTES
  } catch {
    return false
  }
}
