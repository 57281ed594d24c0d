import { mkdtempSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const MEMORY = '/dev/shm'
/** Docker gives it 64 MB, too few for the tests that write much. */
const NEEDED_BYTES = 1e9

/** An empty folder in memory where the system has room for it, so that commits do not wait for a disk. */
export const folderInMemory = (): string => mkdtempSync(join(hasRoom() ? MEMORY : tmpdir(), 'sgw-test-'))

function hasRoom(): boolean {
  try {
    const { bavail, bsize } = statfsSync(MEMORY)
    return bavail * bsize >= NEEDED_BYTES
  } catch {
    return false
  }
}
