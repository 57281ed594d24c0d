import { readFileSync } from 'node:fs'
import { type Bench, type BenchOptions, type Row, shortened } from './bench.ts'
import { BenchGateway } from './gateway/bench-gateway.ts'
import { THOUSAND_NUMBERS } from './gateway/numbers.ts'
import { seed, untilIdle } from './gateway/seed.ts'
import type { Source } from './gateway/source.ts'
import { postRequest, requests } from './rivals/contestant.ts'
import { load } from './rivals/load.ts'
import { startProvider } from './rivals/provider-process.ts'
import { median } from './support/alternate.ts'

const FEW = 1000
const MANY = 1_000_000
const SHARE = 0.22
const CONNECTIONS = 64
const DURATION_MS = 4000
/** A server in production has compiled its hot code. The first seconds after a start are slower. */
const WARM_UP_MS = 8000

/** The accept rate with a nearly empty database and with a million messages, and the bytes that a message writes. */
export const growth: Bench = {
  name: 'growth',
  async run(options) {
    const rows: Row[] = []
    for (const source of options.sources) rows.push(...(await growthOf(source, options)))
    return rows
  },
}

async function growthOf(source: Source, options: BenchOptions): Promise<Row[]> {
  await using provider = await startProvider(0)
  await using gateway = await BenchGateway.open({ ...THOUSAND_NUMBERS, source, provider })
  const many = shortened(options, MANY)
  await seed(gateway, { count: FEW, share: 1 })
  await untilIdle(gateway)
  const before = await accepting(gateway, options)
  await seed(gateway, { count: many, first: FEW, share: SHARE })
  await untilIdle(gateway)
  const after = await accepting(gateway, options)
  return [
    { case: `${source.label}, ${FEW} messages`, ...before },
    { case: `${source.label}, ${many} messages`, ...after },
    {
      case: `${source.label}, ratio`,
      'accepted/s': (after['accepted/s'] / before['accepted/s']).toFixed(2),
      holds: '≥ 0.8',
    },
  ]
}

/** The bytes are those from the request to `sent`, including checkpoints. */
async function accepting(gateway: BenchGateway, options: BenchOptions) {
  const request = requests((message) => postRequest('/v1/sms/send', message, [`Authorization: Bearer ${gateway.key}`]))
  const target = { port: gateway.port, request }
  await load(target, CONNECTIONS, shortened(options, WARM_UP_MS))
  await gateway.drained()
  const rates: number[] = []
  let count = 0
  const bytesBefore = writtenBytes(gateway.pid)
  for (let round = 0; round < options.rounds; round++) {
    const { accepted, requestsPerSecond } = await load(target, CONNECTIONS, shortened(options, DURATION_MS))
    rates.push(requestsPerSecond)
    count += accepted
    await gateway.drained()
  }
  const bytes = (writtenBytes(gateway.pid) - bytesBefore) / count
  return { 'accepted/s': median(rates), 'bytes written a message': Math.round(bytes) }
}

/** Returns 0 on other systems than Linux. */
function writtenBytes(pid: number): number {
  try {
    return Number(/^write_bytes: (\d+)/m.exec(readFileSync(`/proc/${pid}/io`, 'utf8'))?.[1] ?? 0)
  } catch {
    return 0
  }
}
