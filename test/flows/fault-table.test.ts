import { describe, expect, test } from 'bun:test'
import { FAULTS, type ProviderFault } from './fault-table/faults.ts'
import { OPERATIONS } from './fault-table/operations.ts'

// 24 faults of the provider and of the way to it × 6 operations: final state, what the provider has, events, timing.

const TIMEOUT_MS = 120_000
/** More would only make each other's calls time out on a small machine. */
const MAX_AT_ONCE = 8

let running = 0
const waiting: (() => void)[] = []

async function inTurn(run: () => Promise<void>): Promise<void> {
  if (running >= MAX_AT_ONCE) await new Promise<void>((resolve) => waiting.push(resolve))
  else running++
  try {
    await run()
  } finally {
    const next = waiting.shift()
    if (next === undefined) running--
    else next()
  }
}

test('the table has 24 faults and 6 operations', () => {
  expect(new Set(FAULTS.map(({ name }) => name)).size).toBe(24)
  expect(Object.keys(OPERATIONS)).toHaveLength(6)
})

describe.each(Object.entries(OPERATIONS))('%s', (_name, survive) => {
  const cases = FAULTS.map((fault): [string, ProviderFault] => [fault.name, fault])
  test.concurrent.each(cases)('%s', async (_fault, fault) => inTurn(() => survive(fault)), TIMEOUT_MS)
})
