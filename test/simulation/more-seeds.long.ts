import { expect, test } from 'bun:test'
import { runSeedsInProcesses } from './parallel-seeds.ts'

/** `simulation.test.ts` runs the seeds before. */
const FIRST = 501
const SEEDS = Number(process.env['SIM_SEEDS'] ?? 1000)

test(`the simulated send engine keeps its guarantees in ${SEEDS} more seeds`, async () => {
  expect(await runSeedsInProcesses(FIRST, SEEDS)).toBe('')
}, 900_000)
