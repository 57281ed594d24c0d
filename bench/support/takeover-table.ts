import type { FaultKind } from '../../test/support/standby/kinds.ts'
import type { TakeoverCosts } from '../../test/support/standby/takeovers.ts'

const LIMIT_MS = 10_000
const OTHER_LIMITS: Partial<Record<FaultKind, number>> = {
  SIGTERM: 3000,
  'sgw lease give': 3000,
  'lease given while the copy is behind': 3000,
  // `REPLICA_TIMEOUT`, and at most 20 s until the lease is free, then a takeover.
  'Litestream hangs': 25_000,
  'disk full': 25_000,
  'holder an hour ahead': 25_000,
  'holder an hour behind': 25_000,
  '30 % of requests lost': 20_000,
  // A holder that reads an old lease ends, and the next one waits for the lag and 5 s.
  'reads of the lease lag': 15_000,
  'start without the lease': 1000,
}

/** In how many milliseconds messages must be accepted again on a quiet machine. */
export const limitOf = (kind: FaultKind): number => OTHER_LIMITS[kind] ?? LIMIT_MS

export function sumOf(all: readonly TakeoverCosts[]): TakeoverCosts {
  const names = Object.keys(all[0] ?? {}) as (keyof TakeoverCosts)[]
  const sums = names.map((name) => [name, all.reduce((sum, costs) => sum + costs[name], 0)])
  return Object.fromEntries(sums) as TakeoverCosts
}

/** `silent`: what nobody was told of. Messages without an end, events that a client was not given, and texts that never came. */
export function rowOf(fault: FaultKind, takenMs: readonly number[], costs: TakeoverCosts): object {
  const sorted = takenMs.toSorted((one, other) => one - other)
  const { accepted, givenUp, lost, twice, outOfOrder, stuck, events, gaps, inboundMissing, inboundTwice } = costs
  return {
    fault,
    times: sorted.length,
    'median ms': sorted[sorted.length >> 1],
    'worst ms': sorted.at(-1),
    accepted,
    lost,
    twice: twice + inboundTwice + costs.postedTwice,
    'out of order': outOfOrder,
    silent: stuck + events + gaps + inboundMissing,
    'given up': givenUp,
  }
}

export function isKept({ accepted, late: _late, givenUp: _givenUp, posted, ...broken }: TakeoverCosts): boolean {
  return accepted > 0 && posted > 0 && Object.values(broken).every((count) => count === 0)
}
