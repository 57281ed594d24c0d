import type { Bench, BenchOptions, Row } from './bench.ts'
import { messageSender } from './gateway/accept-messages.ts'
import { BenchGateway } from './gateway/bench-gateway.ts'
import { THOUSAND_NUMBERS } from './gateway/numbers.ts'
import { pauseProvider } from './gateway/pause-provider.ts'
import type { Source } from './gateway/source.ts'
import { startProvider } from './rivals/provider-process.ts'
import { peakRssMib, rssMib } from './support/process-figures.ts'

/** After so many sends the bench waits for an empty queue, because a backlog would be measured, too. */
const SENDS_PER_STEP = 2000
const IDLE_MS = 5000

/** The RSS of an idle gateway, after many sends, and with many messages that cannot be sent. */
export const memory: Bench = {
  name: 'memory',
  async run(options) {
    const rows: Row[] = []
    for (const source of options.sources)
      rows.push(await idleRow(source), ...(await sendsRows(source, options)), ...(await queuedRows(source, options)))
    return rows
  },
}

/** With `long` this takes at least a quarter of an hour. */
const sendsOf = ({ short, long }: BenchOptions): readonly [number, number] =>
  long ? [100_000, 1_000_000] : short ? [2000, 10_000] : [20_000, 100_000]

async function idleRow(source: Source): Promise<Row> {
  await using gateway = await BenchGateway.open({ source })
  await Bun.sleep(IDLE_MS)
  return row(gateway, 'idle, 1 extension', '')
}

async function sendsRows(source: Source, options: BenchOptions): Promise<Row[]> {
  await using provider = await startProvider(0)
  await using gateway = await BenchGateway.open({ ...THOUSAND_NUMBERS, source, provider })
  const [few, many] = sendsOf(options)
  const send = messageSender(gateway)
  const sendAll = async (count: number): Promise<void> => {
    for (let sent = 0; sent < count; sent += SENDS_PER_STEP) {
      await send(SENDS_PER_STEP)
      await gateway.drained()
    }
    await Bun.sleep(IDLE_MS)
  }
  await sendAll(few)
  const first = row(gateway, `after ${few} sends`, '')
  await sendAll(many - few)
  const last = row(gateway, `after ${many} sends`, '≤ 2 × the row above')
  return [first, { ...last, ratio: (Number(last['RSS MiB']) / Number(first['RSS MiB'])).toFixed(2) }]
}

async function queuedRows(source: Source, options: BenchOptions): Promise<Row[]> {
  await using gateway = await BenchGateway.open({ ...THOUSAND_NUMBERS, source })
  const queued = options.short ? 10_000 : 100_000
  const send = messageSender(gateway)
  await pauseProvider(gateway, send)
  for (let accepted = 0; accepted < queued; accepted += SENDS_PER_STEP) await send(SENDS_PER_STEP)
  await Bun.sleep(IDLE_MS)
  const before = row(gateway, `${queued} queued`, '≤ 150 MiB')
  await gateway.server.kill()
  await gateway.start()
  await Bun.sleep(IDLE_MS)
  return [before, row(gateway, `${queued} queued, started anew`, '≤ 150 MiB')]
}

const row = ({ pid, source }: BenchGateway, name: string, holds: string): Row => ({
  case: `${source.label}, ${name}`,
  'RSS MiB': Math.round(rssMib(pid)),
  'highest RSS MiB': Math.round(peakRssMib(pid)),
  holds,
})
