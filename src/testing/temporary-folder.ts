import { mkdtempSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Linux keeps this folder in memory. */
const MEMORY = '/dev/shm'
/** More than the data of any test. Docker gives 64 MB. */
const NEEDED_BYTES = 32_000_000

/**
 * Creates an empty folder, in memory if there is one with enough space, so that commits do not wait for a disk. Its
 * name has the id of the process.
 */
export const temporaryFolder = (): string =>
  mkdtempSync(join(isMemoryFree() ? MEMORY : tmpdir(), `sgw-kit-${process.pid}-`))

function isMemoryFree(): boolean {
  try {
    const { bavail, bsize } = statfsSync(MEMORY)
    return bavail * bsize >= NEEDED_BYTES
  } catch {
    return false
  }
}
