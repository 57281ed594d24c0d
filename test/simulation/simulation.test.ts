import { describe, expect, test } from 'bun:test'
import { report, runBatch, runLogged } from './seeds.ts'

/** `more-seeds.long.ts` continues with 501. */
const FIRSTS = [1, 126, 251, 376]
const SEEDS = 125
const ONE_SEED = process.env['SIM_SEED']

describe('the simulated send engine', () => {
  if (ONE_SEED !== undefined) {
    test(`seed ${ONE_SEED}`, async () => {
      const result = await runLogged(Number(ONE_SEED))
      process.stdout.write(`${report(result)}\n`)
      expect(result.violation).toBeNull()
    })
    return
  }

  test.each(FIRSTS)(
    `loses nothing, sends nothing twice or out of order and is fair in ${SEEDS} seeds from %i on`,
    async (first) => {
      const { failure } = await runBatch(seedsFrom(first, SEEDS))
      expect(failure === null ? '' : report(failure)).toBe('')
    },
    60_000,
  )

  test('runs a seed always the same way', async () => {
    const [first, second] = [await fingerprints(25), await fingerprints(25)]
    expect(second).toEqual(first)
  }, 60_000)
})

async function fingerprints(count: number): Promise<string[]> {
  const seen: string[] = []
  await runBatch(seedsFrom(1, count), { seen: (result) => seen.push(result.fingerprint) })
  return seen
}

const seedsFrom = (first: number, count: number): number[] => Array.from({ length: count }, (_, index) => first + index)
