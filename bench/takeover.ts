import { parseArgs } from 'node:util'
import { IS_LITESTREAM_5, LITESTREAM } from '../test/support/litestream.ts'
import { TAKEOVERS, type TakeoverKind } from '../test/support/standby/kinds.ts'
import { type TakeoverCosts, Takeovers } from '../test/support/standby/takeovers.ts'
import { startStorage } from './support/replica-storage.ts'
import { makeSeededDatabase } from './support/seeded-database.ts'

// STANDBY=on: two gateways take over from each other under load. docs/beyond-one-machine.md has the results.
// bun bench/takeover.ts [--takeovers 200] [--kinds SIGSTOP,SIGTERM] [--round-trip 5] [--connections 16] [--without-check 20] [--messages 0]
//   --without-check  then machines are paused so often while nothing but time limits the lease, where it must find losses
//   --messages       so many are in the database before

const { values } = parseArgs({
  options: {
    takeovers: { type: 'string', default: '200' },
    kinds: { type: 'string', default: Object.keys(TAKEOVERS).join(',') },
    'round-trip': { type: 'string', default: '5' },
    connections: { type: 'string', default: '16' },
    'without-check': { type: 'string', default: '20' },
    messages: { type: 'string', default: '0' },
  },
})
const LIMIT_MS = 10_000
const CLEAN_LIMIT_MS = 3000
/** `REPLICA_TIMEOUT`, and at most 20 s until the lease is free, then a takeover. */
const USELESS_LIMIT_MS = 25_000
const SHOWN_EVENTS = 10
/**
 * Then another pair goes on, with an empty database: this load sends ten times what RingCentral allows to an extension, and a lookup, which
 * reads an hour of its messages, reads at most 20,000.
 */
const TAKEOVERS_OF_A_PAIR = 36
const isSeeded = Number(values.messages) > 0
const CLEAN: readonly TakeoverKind[] = ['SIGTERM', 'sgw lease give']
const USELESS: readonly TakeoverKind[] = ['Litestream hangs', 'disk full']
const WITHOUT_CHECK = `${import.meta.dir}/../test/support/standby/preloads/without-check.ts`

if (!IS_LITESTREAM_5) {
  process.stderr.write(
    'This needs Litestream 0.5.18: install Go (https://go.dev/dl), then bun test/support/litestream.ts builds it in two minutes\n',
  )
  process.exit(69)
}
process.stdout.write(`Litestream: ${LITESTREAM}\n`)
let isGood = true
if (Number(values.takeovers) > 0) {
  const kinds = kindsOf(values.kinds)
  const plan = Array.from({ length: Number(values.takeovers) }, (_, at) => kinds[at % kinds.length] ?? 'SIGTERM')
  const { costs, takenMs } = await run(plan, [])
  console.table([...takenMs].map(([kind, times]) => rowOf(kind, times)))
  console.table([costs])
  isGood &&= isKept(costs) && [...takenMs].every(([kind, times]) => times.every((ms) => ms <= limitOf(kind)))
}
if (Number(values['without-check']) > 0) {
  const plan = Array.from({ length: Number(values['without-check']) }, (): TakeoverKind => 'machine paused')
  const { costs } = await run(plan, [WITHOUT_CHECK])
  process.stdout.write('Without the check of the lease after each upload, where losses must be found:\n')
  console.table([costs])
  isGood &&= costs.lost > 0
}
process.exit(isGood ? 0 : 1)

async function run(kinds: readonly TakeoverKind[], preloads: readonly string[]) {
  const takenMs = new Map<TakeoverKind, number[]>()
  const all: TakeoverCosts[] = []
  for (let first = 0; first < kinds.length; first += TAKEOVERS_OF_A_PAIR)
    all.push(await runPair(kinds.slice(first, first + TAKEOVERS_OF_A_PAIR), preloads, takenMs))
  return { costs: sumOf(all), takenMs }
}

async function runPair(
  kinds: readonly TakeoverKind[],
  preloads: readonly string[],
  takenMs: Map<TakeoverKind, number[]>,
): Promise<TakeoverCosts> {
  await using storage = await startStorage()
  // A start copies all of the database.
  const environment = { ...storage.environment, ...(isSeeded && { LITESTREAM_TIMEOUT: '300s' }) }
  const [roundTripMs, connections] = [Number(values['round-trip']), Number(values.connections)]
  await using drill = await Takeovers.start({ environment, roundTripMs, connections, preloads, fill })
  for (const [at, kind] of kinds.entries()) {
    await Bun.sleep(500 + Math.random() * 1500)
    const ms = await TAKEOVERS[kind](drill)
    takenMs.set(kind, [...(takenMs.get(kind) ?? []), ms])
    process.stdout.write(`${at + 1} of ${kinds.length}: ${kind}, ${ms} ms\n`)
    if (ms > limitOf(kind)) process.stdout.write(`${drill.outputs()}\n`)
  }
  const costs = await drill.costs()
  for (const event of drill.ledger.differences.slice(0, SHOWN_EVENTS)) process.stdout.write(`${event}\n`)
  return costs
}

function sumOf(all: readonly TakeoverCosts[]): TakeoverCosts {
  const names = Object.keys(all[0] ?? {}) as (keyof TakeoverCosts)[]
  const sums = names.map((name) => [name, all.reduce((sum, costs) => sum + costs[name], 0)])
  return Object.fromEntries(sums) as TakeoverCosts
}

async function fill(path: string): Promise<void> {
  if (!isSeeded) return
  const bytes = await makeSeededDatabase(path, Number(values.messages))
  process.stdout.write(`The database has ${values.messages} messages, ${Math.round(bytes / 1e6)} MB\n`)
}

function kindsOf(list: string): TakeoverKind[] {
  const kinds = list.split(',')
  const unknown = kinds.filter((kind) => !Object.hasOwn(TAKEOVERS, kind))
  if (unknown.length === 0) return kinds as TakeoverKind[]
  process.stderr.write(`Unknown kinds: ${unknown.join(', ')}. There are: ${Object.keys(TAKEOVERS).join(', ')}\n`)
  process.exit(2)
}

function limitOf(kind: TakeoverKind): number {
  if (USELESS.includes(kind)) return USELESS_LIMIT_MS
  return CLEAN.includes(kind) ? CLEAN_LIMIT_MS : LIMIT_MS
}

function rowOf(kind: TakeoverKind, times: readonly number[]): object {
  const sorted = times.toSorted((one, other) => one - other)
  return { kind, times: times.length, 'median ms': sorted[sorted.length >> 1], 'worst ms': sorted.at(-1) }
}

function isKept({ accepted, late: _late, posted, ...broken }: TakeoverCosts): boolean {
  return accepted > 0 && posted > 0 && Object.values(broken).every((count) => count === 0)
}
