import { expect, test } from 'bun:test'
import { type Filter, match, matchedRows } from '../../../src/db/lists/match.ts'
import { createRandom } from '../../simulation/random.ts'

const SEED = Number(process.env['LISTS_SEED'] ?? Math.floor(Math.random() * 1e9))
const random = createRandom(SEED)

test(`exactly the rows that pass all filters are found, LISTS_SEED=${SEED}`, () => {
  for (let n = 0; n < 300; n++) {
    const rows = random.int(0, 200)
    const filters = Array.from({ length: random.int(0, 3) }, (): Filter => {
      const values = random.pick([1, 2, 10, 100])
      const codes = Uint16Array.from({ length: rows }, () => random.int(0, values))
      return { codes, code: random.int(0, values), isNot: random.chance(0.2) }
    })
    const [low, high] = [random.int(0, rows), random.int(0, rows)].toSorted((a, b) => a - b) as [number, number]
    const passing = Array.from({ length: high - low }, (_, index) => low + index).filter((row) =>
      filters.every(({ codes, code, isNot }) => (codes[row] === code) !== isNot),
    )
    const count = match(filters, { low, high })
    expect({ n, rows: matchedRows(0, count) }).toEqual({ n, rows: passing })
  }
})
