import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { median } from './alternate.ts'

const FLUSHES = 50
const PAGE = new Uint8Array(4096)

/** The median time in milliseconds for this disk to flush one page. Every commit waits for a flush. */
export function flushMs(): number {
  const folder = mkdtempSync(join(tmpdir(), 'sgw-bench-disk-'))
  const file = openSync(join(folder, 'pages'), 'w')
  const one = (): number => {
    const startedAt = performance.now()
    writeSync(file, PAGE)
    fdatasyncSync(file)
    return performance.now() - startedAt
  }
  const times = Array.from({ length: FLUSHES }, one)
  closeSync(file)
  rmSync(folder, { recursive: true })
  return median(times)
}
