import { expect, test } from 'bun:test'
import { type Entry, compare } from '../../bench/rivals/compare.ts'
import type { Contestant } from '../../bench/rivals/contestant.ts'
import { tableOf } from '../../bench/rivals/table.ts'

const COLUMNS = { figures: ['sent/s'], decimals: { 'sent/s': 0 }, holds: { older: '≥ 0.70' } } as const
const PROVIDER = { url: '', calls: () => Promise.resolve(0), forwardTo: () => Promise.resolve() }

/** `rates`: the figures of each contestant, one per turn. `started` is called with the name of a contestant that starts. */
function entries(rates: Record<string, number[] | Error>, started: (name: string) => void): Entry[] {
  return Object.entries(rates).map(([name, turns]) => ({
    contestant: {
      name,
      missing: () => null,
      start: () => {
        started(name)
        if (turns instanceof Error) return Promise.reject(turns)
        return Promise.resolve({
          port: turns.shift() ?? 0,
          pids: [],
          request: () => '',
          stored: () => Promise.resolve(0),
          [Symbol.asyncDispose]: () => Promise.resolve(),
        })
      },
    } satisfies Contestant,
  }))
}

async function compared(rates: Record<string, number[] | Error>) {
  const order: string[] = []
  const turn = async (start: Parameters<Parameters<typeof compare<'sent/s'>>[3]>[0]) => {
    await using running = await start({ provider: PROVIDER })
    return { 'sent/s': running.port }
  }
  const all = entries(rates, (name) => order.push(name))
  return { order, rows: tableOf(COLUMNS, await compare(2, all, COLUMNS.figures, turn, 0)) }
}

test('contestants take turns, forwards and backwards, and each row has our figure divided by its figure', async () => {
  const { order, rows } = await compared({ sgw: [100, 100], older: [100, 125] })
  expect(order).toEqual(['sgw', 'older', 'older', 'sgw'])
  expect(rows).toEqual([
    { contestant: 'sgw', 'sent/s': '100', range: '100–100', 'sgw ÷ it': '', holds: '', note: '' },
    { contestant: 'older', 'sent/s': '125', range: '100–125', 'sgw ÷ it': '0.80', holds: '≥ 0.70', note: '' },
  ])
})

test('a contestant that fails is left out of later rounds, and its row says why', async () => {
  const { order, rows } = await compared({ sgw: [100, 100], older: new Error('It did not start') })
  expect(order).toEqual(['sgw', 'older', 'sgw'])
  expect(rows[1]).toEqual({
    contestant: 'older',
    'sent/s': '',
    range: '',
    'sgw ÷ it': '',
    holds: '≥ 0.70',
    note: 'It did not start',
  })
})
