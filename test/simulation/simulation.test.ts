import { describe, expect, test } from 'bun:test'
import { availableParallelism } from 'node:os'
import { report, runBatch, runLogged } from './seeds.ts'

const SEEDS = Number(process.env['SIM_SEEDS'] ?? 500)
const ONE_SEED = process.env['SIM_SEED']
const PROCESSES = Math.min(4, availableParallelism())

describe('the send core, simulated', () => {
  if (ONE_SEED !== undefined) {
    test(`seed ${ONE_SEED}`, async () => {
      const result = await runLogged(Number(ONE_SEED))
      process.stdout.write(`${report(result)}\n`)
      expect(result.violation).toBeNull()
    })
    return
  }

  test(`loses nothing, sends nothing twice or out of order and lets nobody wait unfairly in ${SEEDS} seeds`, async () => {
    const reports = await Promise.all(Array.from({ length: PROCESSES }, (_, index) => seedsInProcess(index)))
    expect(reports.join('')).toBe('')
  }, 600_000)

  test('runs the same seed the same way', async () => {
    const [first, second] = [await prints(50), await prints(50)]
    expect(second).toEqual(first)
  }, 60_000)
})

async function seedsInProcess(index: number): Promise<string> {
  const count = Math.ceil((SEEDS - index) / PROCESSES)
  const script = new URL('seeds.process.ts', import.meta.url).pathname
  const child = Bun.spawn([process.execPath, script, String(index + 1), String(PROCESSES), String(count)], {
    stdout: 'pipe',
    stderr: 'inherit',
  })
  const output = await new Response(child.stdout).text()
  return (await child.exited) === 0
    ? output
    : `${output}\nseeds ${index + 1}, ${index + 1 + PROCESSES} … ended with code ${child.exitCode}`
}

async function prints(count: number): Promise<string[]> {
  const seen: string[] = []
  await runBatch(
    Array.from({ length: count }, (_, index) => index + 1),
    { seen: (result) => seen.push(result.print) },
  )
  return seen
}
