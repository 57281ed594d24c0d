import { parseArgs } from 'node:util'
import { HAS_LITESTREAM, LITESTREAM } from '../test/support/litestream.ts'
import { type Losses, MachineLoss, type Moment } from '../test/support/machine-loss.ts'
import { measureReplica } from './support/replica-figures.ts'
import { startStorage } from './support/replica-storage.ts'

// DURABILITY=replica: loses machines with their disks under load, then measures what it costs. docs/measured.md has the results.
// bun bench/replica.ts [--losses 50] [--round-trips 0,5,20] [--figures 0,5,20,50] [--connections 64,512] [--seconds 5] [--standby off]
//   --standby off,on  measures each figure without and with a lease, in turn

const { values } = parseArgs({
  options: {
    losses: { type: 'string', default: '50' },
    'round-trips': { type: 'string', default: '0,5,20' },
    figures: { type: 'string', default: '0,5,20,50' },
    connections: { type: 'string', default: '64,512' },
    seconds: { type: 'string', default: '5' },
    standby: { type: 'string', default: 'off' },
  },
})
const numbers = (list: string): number[] =>
  list
    .split(',')
    .filter((item) => item !== '')
    .map(Number)
/** This many storage outages are among the losses of each round-trip time. */
const OUTAGES = 1
const OUTAGE_MS = 10_000
const CONNECTIONS = 16
const LOSSES_WITH_DISK = 5

if (!HAS_LITESTREAM) {
  process.stderr.write(
    'This needs Litestream 0.5.18: install Go (https://go.dev/dl), then bun test/support/litestream.ts builds it in two minutes\n',
  )
  process.exit(69)
}
process.stdout.write(`Litestream: ${LITESTREAM}\n`)
const rows: object[] = []
const roundTrips = numbers(values['round-trips'])
let isGood = true
for (const roundTripMs of Number(values.losses) > 0 ? roundTrips : []) {
  const losses = await drill('replica', roundTripMs, Math.ceil(Number(values.losses) / roundTrips.length))
  isGood &&= [losses.lost, losses.twice, losses.outOfOrder, losses.stuck, losses.events, losses.gaps].every(
    (n) => n === 0,
  )
}
// The drill must see a loss where nothing waits for the storage.
if (Number(values.losses) > 0) isGood &&= (await drill('disk', 0, LOSSES_WITH_DISK)).lost > 0
if (rows.length > 0) console.table(rows)
const figures: object[] = []
for (const roundTripMs of numbers(values.figures))
  for (const connections of numbers(values.connections))
    for (const word of values.standby.split(',')) {
      const standby = word === 'on' ? 'on' : 'off'
      await using server = await startStorage()
      const load = { standby, roundTripMs, connections, seconds: Number(values.seconds) } as const
      figures.push(await measureReplica(server.environment, load))
      process.stdout.write(`${JSON.stringify(figures.at(-1))}\n`)
    }
if (figures.length > 0) console.table(figures)
process.exit(isGood ? 0 : 1)

async function drill(durability: 'replica' | 'disk', roundTripMs: number, times: number): Promise<Losses> {
  await using server = await startStorage()
  await using lost = await MachineLoss.start({ ...server.environment, DURABILITY: durability }, roundTripMs)
  for (let time = 1; time <= times; time++) {
    if (time <= OUTAGES && durability === 'replica') await outage(lost)
    await lost.lose(durability === 'replica' ? momentOf(time) : 'any time', CONNECTIONS, 500 + Math.random() * 1500)
    process.stdout.write(`${durability}, ${roundTripMs} ms: ${time} of ${times}\n`)
  }
  const losses = await lost.losses()
  const serves = losses.restartMs.toSorted((one, other) => one - other)
  rows.push({
    durability,
    'round trip ms': roundTripMs,
    ...losses,
    restartMs: `${serves[serves.length >> 1]}, worst ${serves.at(-1)}`,
  })
  return losses
}

const momentOf = (time: number): Moment =>
  time % 3 === 0 ? 'during an upload' : time % 8 === 0 ? 'at a stop' : 'any time'

/** The storage is unavailable under load, and comes back. */
async function outage(lost: MachineLoss): Promise<void> {
  lost.storage.goAway()
  const back = Bun.sleep(OUTAGE_MS).then(() => lost.storage.comeBack())
  await lost.load(CONNECTIONS, back)
}
