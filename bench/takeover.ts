import { parseArgs } from 'node:util'
import { seededRandom } from '../src/simulator/random.ts'
import { HAS_LITESTREAM, LITESTREAM } from '../test/support/litestream.ts'
import { S3Stub } from '../test/support/s3-stub.ts'
import { FAULTS, type FaultKind, TAKEOVERS } from '../test/support/standby/kinds.ts'
import { type TakeoverCosts, type TakeoverOptions, Takeovers } from '../test/support/standby/takeovers.ts'
import { UPGRADES, sgwOf } from '../test/support/standby/versions.ts'
import { checkOut } from './gateway/checkout.ts'
import { startStorage } from './support/replica-storage.ts'
import { makeSeededDatabase } from './support/seeded-database.ts'
import { isKept, limitOf, rowOf, sumOf } from './support/takeover-table.ts'

// STANDBY=on: two gateways take over from each other under load. bench/README.md has the results.
// bun bench/takeover.ts [--takeovers 200] [--kinds 'SIGSTOP;SIGTERM'] [--seed 1] [--round-trip 5] [--connections 16] [--without-check 20]
//                       [--without-comparison 4] [--messages 0] [--older b9112196]
//   --takeovers      the total, with the same number of each kind; each kind has its own pair
//   --without-check  then this many pauses of machines while only time limits the lease, which must find losses
//   --without-comparison  and this many handovers that begin with the copy kept ready, whatever it has, which must find losses
//   --messages       how many are in the database before
//   --rest           additional seconds before each takeover: with a large database, the time that a standby needs to prepare its copy
//   --older          the commit with which the upgraded pairs begin; by default the last one of 1.1.0

const { values } = parseArgs({
  options: {
    takeovers: { type: 'string', default: '200' },
    kinds: { type: 'string', default: Object.keys(FAULTS).join(';') },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    'round-trip': { type: 'string', default: '5' },
    connections: { type: 'string', default: '16' },
    'without-check': { type: 'string', default: '20' },
    'without-comparison': { type: 'string', default: '4' },
    messages: { type: 'string', default: '0' },
    rest: { type: 'string', default: '0' },
    older: { type: 'string', default: 'b9112196' },
  },
})
const SHOWN_EVENTS = 10
/**
 * Then another pair continues, with an empty database: this load sends ten times what RingCentral allows to an extension, and a lookup, which
 * reads an hour of its messages, reads at most 20,000.
 */
const TAKEOVERS_OF_A_PAIR = 36
const PRELOADS = `${import.meta.dir}/../test/support/standby/preloads`
/** Each takes one promise out, and then losses must be found. */
const SABOTAGES = [
  {
    times: Number(values['without-check']),
    kind: 'machine paused',
    preload: 'without-check.ts',
    what: 'the check of the lease after each upload',
  },
  {
    times: Number(values['without-comparison']),
    kind: 'lease given while the copy is behind',
    preload: 'without-comparison.ts',
    what: 'the comparison of the copy that is kept ready with the newest transaction',
  },
] as const
const isSeeded = Number(values.messages) > 0
const isUpgrade = (kind: FaultKind): boolean => Object.hasOwn(UPGRADES, kind)
const random = seededRandom(Number(values.seed))

if (!HAS_LITESTREAM) {
  process.stderr.write(
    'This needs Litestream 0.5.18: install Go (https://go.dev/dl), then bun test/support/litestream.ts builds it in two minutes\n',
  )
  process.exit(69)
}
process.stdout.write(`Litestream: ${LITESTREAM}, seed ${values.seed}\n`)
const kinds = kindsOf(values.kinds)
using older = kinds.some(isUpgrade) ? checkOut(values.older) : null
let isGood = true
const rows: object[] = []
for (const kind of Number(values.takeovers) > 0 ? kinds : []) {
  const { costs, takenMs } = await run(kind, Math.ceil(Number(values.takeovers) / kinds.length), [])
  rows.push(rowOf(kind, takenMs, costs))
  console.table(rows)
  isGood &&= isKept(costs) && takenMs.every((ms) => ms <= limitOf(kind))
}
for (const { times, kind, preload, what } of SABOTAGES) {
  if (times === 0) continue
  const { costs } = await run(kind, times, [`${PRELOADS}/${preload}`])
  process.stdout.write(`Without ${what}, where losses must be found:\n`)
  console.table([costs])
  isGood &&= costs.lost > 0
}
process.exit(isGood ? 0 : 1)

async function run(kind: FaultKind, times: number, preloads: readonly string[]) {
  const takenMs: number[] = []
  const all: TakeoverCosts[] = []
  const ofPair = isUpgrade(kind) ? 1 : TAKEOVERS_OF_A_PAIR
  for (let first = 0; first < times; first += ofPair)
    all.push(await runPair(kind, Math.min(ofPair, times - first), preloads, takenMs))
  return { costs: sumOf(all), takenMs }
}

async function runPair(
  kind: FaultKind,
  times: number,
  preloads: readonly string[],
  takenMs: number[],
): Promise<TakeoverCosts> {
  await using stack = new AsyncDisposableStack()
  const drill = stack.use(await Takeovers.start({ ...(await optionsOf(kind, stack)), preloads }))
  for (let at = 0; at < times; at++) {
    await Bun.sleep(Number(values.rest) * 1000 + 500 + random() * 1500)
    const ms = await FAULTS[kind](drill)
    takenMs.push(ms)
    process.stdout.write(`${kind}: ${at + 1} of ${times}, ${ms} ms\n`)
    if (ms > limitOf(kind)) process.stdout.write(`${drill.outputs()}\n`)
  }
  const costs = await drill.costs()
  process.stdout.write(`${kind}: ${JSON.stringify(costs)}\n`)
  if (!isKept(costs)) {
    for (const event of drill.ledger.differences.slice(0, SHOWN_EVENTS)) process.stdout.write(`${event}\n`)
    process.stdout.write(`${drill.outputs()}\n`)
  }
  return costs
}

/** Most takeovers run with an independent storage; the storage of the tests has the faults. */
async function optionsOf(kind: FaultKind, stack: AsyncDisposableStack): Promise<TakeoverOptions> {
  const roundTripMs = Number(values['round-trip'])
  const shared = { roundTripMs, connections: Number(values.connections), fill, random }
  // A start copies all of the database.
  const patience = { ...(isSeeded && { LITESTREAM_TIMEOUT: '300s' }) }
  if (Object.hasOwn(TAKEOVERS, kind)) {
    const { environment } = stack.use(await startStorage())
    return { ...shared, environment: { ...environment, ...patience } }
  }
  const storage = stack.use(new S3Stub({ pageSize: 1000 }))
  const storages = [storage, stack.use(new S3Stub(storage.behaviour, storage))] as const
  const sgw = older !== null && isUpgrade(kind) ? { sgw: sgwOf(older.folder) } : {}
  return { ...shared, environment: patience, storages, ...sgw }
}

async function fill(path: string): Promise<void> {
  if (!isSeeded) return
  const bytes = await makeSeededDatabase(path, Number(values.messages))
  process.stdout.write(`The database has ${values.messages} messages, ${Math.round(bytes / 1e6)} MB\n`)
}

function kindsOf(list: string): FaultKind[] {
  const named = list.split(';')
  const unknown = named.filter((kind) => !Object.hasOwn(FAULTS, kind))
  if (unknown.length === 0) return named as FaultKind[]
  process.stderr.write(`Unknown kinds: ${unknown.join('; ')}. There are: ${Object.keys(FAULTS).join('; ')}\n`)
  process.exit(2)
}
