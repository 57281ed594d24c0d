import { describe, expect, test } from 'bun:test'
import { FAULTS, type ProviderFault } from './fault-table/faults.ts'
import { OPERATIONS } from './fault-table/operations.ts'

// 25 faults of the provider and the network × 7 operations: final state, records at the provider, events, timing.

const rows = (isSilent: boolean): [string, ProviderFault][] =>
  FAULTS.filter((fault) => (fault.isSilent === true) === isSilent).map((fault) => [fault.name, fault])

test('the table has 25 faults and 7 operations', () => {
  expect(new Set(FAULTS.map(({ name }) => name)).size).toBe(25)
  expect(Object.keys(OPERATIONS)).toHaveLength(7)
})

describe.each(Object.entries(OPERATIONS))('%s', (_name, survive) => {
  test.each(rows(false))('%s', (_fault, fault) => survive(fault))
})

// These cases wait for timeouts most of the time, so they run concurrently.
const silent = Object.entries(OPERATIONS).flatMap(([name, survive]) =>
  rows(true).map(([fault, value]) => [name, fault, () => survive(value)] as const),
)
test.concurrent.each(silent)('%s %s', (_name, _fault, survive) => survive())
