import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface SlowFlush extends Disposable {
  /** The environment of the processes whose flushes are delayed. */
  env: Record<string, string>
  /** The number of flushes of those processes. 0 means that the delay did not take effect. */
  count(): number
}

const SOURCE = join(import.meta.dir, 'slow-flush.c')

/** Delays flushes for programs that call libc. Null without a C compiler or on other systems than Linux. */
export function slowFlush(delayMs: number): SlowFlush | null {
  const compiler = Bun.which('cc')
  if (compiler === null || process.platform !== 'linux') return null
  const folder = mkdtempSync(join(tmpdir(), 'sgw-bench-flush-'))
  const library = join(folder, 'slow-flush.so')
  const built = Bun.spawnSync([compiler, '-O2', '-shared', '-fPIC', '-o', library, SOURCE], { stderr: 'inherit' })
  const counter = join(folder, 'count')
  writeFileSync(counter, new Uint8Array(8))
  const dispose = (): void => rmSync(folder, { recursive: true, force: true })
  if (!built.success) return (dispose(), null)
  return {
    env: { LD_PRELOAD: library, FLUSH_DELAY_US: String(delayMs * 1000), FLUSH_COUNTER: counter },
    count: () => Number(readFileSync(counter).readBigInt64LE()),
    [Symbol.dispose]: dispose,
  }
}
