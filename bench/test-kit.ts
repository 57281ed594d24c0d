import { join } from 'node:path'
import { type Bench, type BenchOptions, type Row, shortened } from './bench.ts'
import { median } from './support/alternate.ts'
import { rounded } from './support/rounded.ts'

const PROGRAM = join(import.meta.dir, 'support/test-kit-process.ts')
const PROCESSES = 12
const HOLDS: Readonly<Record<string, string>> = {
  'first start': '≤ 300 ms',
  'next start': '≤ 300 ms',
  'phone to delivered': '≤ 100 ms',
  stop: '≤ 500 ms',
  'stop with a call that hangs': '≤ 500 ms',
  'end of the process after that': '≤ 100 ms',
}

/** What the test kit costs its users: in fresh processes, one after another. */
export const testKit: Bench = {
  name: 'test kit',
  async run(options: BenchOptions): Promise<Row[]> {
    const runs: Record<string, Step>[] = []
    for (let n = 0; n < shortened(options, PROCESSES); n++) runs.push(await runOnce())
    return Object.keys(runs[0] ?? {}).map((step) => {
      const times = runs.map((run) => run[step]?.ms ?? Number.NaN)
      return {
        step,
        'median ms': rounded(median(times)),
        'worst ms': rounded(Math.max(...times)),
        // All threads. On a busy machine it says more than the time.
        'CPU ms': rounded(median(runs.map((run) => run[step]?.cpuMs ?? Number.NaN))),
        holds: HOLDS[step] ?? '',
      }
    })
  },
}

interface Step {
  ms: number
  cpuMs: number
}

/** What the program prints, and how long its process takes to end after that. */
async function runOnce(): Promise<Record<string, Step>> {
  const child = Bun.spawn([process.execPath, PROGRAM], { stdout: 'pipe', stderr: 'inherit' })
  let text = ''
  let printedAt = Number.NaN
  const decoder = new TextDecoder()
  for await (const chunk of child.stdout) {
    text += decoder.decode(chunk, { stream: true })
    if (text.endsWith('\n')) printedAt = performance.now()
  }
  if ((await child.exited) !== 0) throw new Error('The program with the test kit failed')
  const steps = JSON.parse(text) as Record<string, Step>
  return { ...steps, 'end of the process after that': { ms: performance.now() - printedAt, cpuMs: 0 } }
}
