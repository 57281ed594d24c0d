import { readFileSync, readdirSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { openGate } from '../src/db/gate.ts'
import { Deployment, NUMBER } from '../test/support/deployment.ts'
import { writeManyMessages } from '../test/support/many-messages.ts'

// Runs a mixed load for minutes, to find memory that grows and files that stay open: bun bench/soak.ts [--minutes 20]
// [--warm-up 8]
// The minutes include the warm-up, which has four times the load, so that the heap reaches its maximum before the end
// of it.

const { values } = parseArgs({
  options: { minutes: { type: 'string', default: '20' }, 'warm-up': { type: 'string', default: '8' } },
})
const SAMPLE_MS = 2000
const WARM_UP_FACTOR = 4

interface Sample {
  /** Seconds since the end of the warm-up. */
  at: number
  rssMb: number
  files: number
}

await using receiver = startReceiver()
await using deployment = await Deployment.create()
await deployment.start({ LITESTREAM_REPLICA_URL: '', LOG_LEVEL: 'warn' })
await deployment.connect(receiver.url)
await fillPageCache()
const counts: Record<string, number> = {}
const life = { running: true, factor: WARM_UP_FACTOR }
const load = Promise.all([
  again('send', 25, (number) =>
    deployment.call('POST', '/v1/sms/send', { from: NUMBER, to: '+15557770001', body: `Soak ${number}` }),
  ),
  again('list', 100, () => deployment.call('GET', '/v1/sms/messages?limit=50')),
  again('deliveries', 250, () => deployment.call('GET', '/v1/webhook-deliveries?limit=20')),
  again('inbound', 150, (number) =>
    deployment.simulator.control('injectSms', { from: '+15558880001', to: NUMBER, text: `Soak ${number}` }),
  ),
  again('socket', 400, socketForAMoment),
  again('not found', 500, () => deployment.call('GET', '/v1/nothing')),
  again('status', 60, (number) =>
    deployment.call('GET', `/v1/sms/status/msg_${number.toString(16).padStart(12, '0')}`),
  ),
])
const samples = await watch(Number(values.minutes) * 60, Number(values['warm-up']) * 60)
life.running = false
await load
report(samples)

/** SQLite caches up to 32 MB of pages. While the cache fills, a growing database would look like a leak. */
async function fillPageCache(): Promise<void> {
  const gate = await openGate({ url: `file:${deployment.database}`, pragmas: ['synchronous = OFF'] })
  const [app] = (await gate.execute('SELECT id, tenant_id FROM apps')).rows
  const ids = { tenantId: String(app?.['tenant_id']), appId: String(app?.['id']) }
  await writeManyMessages(gate, { count: 200_000, since: Date.now() - 400_000_000, ...ids })
  await gate.close()
  // The doctor reads every page.
  await deployment.command('doctor').catch(() => undefined)
}

async function again(name: string, pauseMs: number, act: (number: number) => Promise<unknown>): Promise<void> {
  for (let number = 0; life.running; number++) {
    const answer = await act(number)
    if (answer instanceof Response) await answer.arrayBuffer()
    counts[name] = (counts[name] ?? 0) + 1
    await Bun.sleep(pauseMs / life.factor)
  }
}

/** Opens a socket, authenticates, receives a message and closes it. */
async function socketForAMoment(): Promise<void> {
  const socket = new WebSocket(`${deployment.url.replace('http', 'ws')}/ws`)
  const { promise, resolve } = Promise.withResolvers<void>()
  socket.addEventListener('open', () => socket.send(JSON.stringify({ type: 'auth', apiKey: deployment.key })))
  socket.addEventListener('message', () => resolve())
  socket.addEventListener('close', () => resolve())
  await Promise.race([promise, Bun.sleep(1000)])
  await Bun.sleep(200)
  socket.close()
}

async function watch(seconds: number, warmUpSeconds: number): Promise<Sample[]> {
  const startedAt = performance.now()
  const found: Sample[] = []
  for (let at = 0; at < seconds; at = (performance.now() - startedAt) / 1000) {
    const sample = { at: at - warmUpSeconds, ...measure(deployment.pid) }
    if (sample.at >= 0) {
      life.factor = 1
      found.push(sample)
    }
    if (found.length % 15 === 0)
      process.stdout.write(`${Math.round(at)} s  ${sample.rssMb.toFixed(1)} MB  ${sample.files} files\n`)
    await Bun.sleep(SAMPLE_MS)
  }
  return found
}

function measure(pid: number): { rssMb: number; files: number } {
  const kib = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? '0'
  return { rssMb: Number(kib) / 1024, files: readdirSync(`/proc/${pid}/fd`).length }
}

/** Least squares, in MB per second. */
function slopeOf(found: readonly Sample[]): number {
  const mean = (pick: (sample: Sample) => number): number =>
    found.reduce((sum, sample) => sum + pick(sample), 0) / found.length
  const [at, rss] = [mean((sample) => sample.at), mean((sample) => sample.rssMb)]
  const above = found.reduce((sum, sample) => sum + (sample.at - at) * (sample.rssMb - rss), 0)
  return above / found.reduce((sum, sample) => sum + (sample.at - at) ** 2, 0)
}

/** The lowest sample of each minute, right after a garbage collection. */
function lowsOf(found: readonly Sample[]): Sample[] {
  const lows = new Map<number, Sample>()
  for (const sample of found) {
    const minute = Math.floor(sample.at / 60)
    if (sample.rssMb < (lows.get(minute)?.rssMb ?? Infinity)) lows.set(minute, sample)
  }
  return [...lows.values()]
}

function report(found: readonly Sample[]): void {
  const third = Math.ceil(found.length / 3)
  const worst = (part: readonly Sample[], name: 'rssMb' | 'files'): number =>
    Math.max(...part.map((sample) => sample[name]))
  const figures = {
    requests: JSON.stringify(counts),
    webhooks: receiver.count(),
    'RSS, MB per 10 min': (slopeOf(found) * 600).toFixed(2),
    'RSS, lowest of each minute, MB per 10 min': (slopeOf(lowsOf(found)) * 600).toFixed(2),
    'RSS, lowest of each minute, MB': lowsOf(found)
      .map((sample) => sample.rssMb.toFixed(0))
      .join(' '),
    'RSS, highest of first and last third, MB': `${worst(found.slice(0, third), 'rssMb').toFixed(1)} ${worst(found.slice(-third), 'rssMb').toFixed(1)}`,
    'open files, highest of first and last third': `${worst(found.slice(0, third), 'files')} ${worst(found.slice(-third), 'files')}`,
  }
  for (const [name, figure] of Object.entries(figures)) process.stdout.write(`${name.padEnd(44)} ${figure}\n`)
}

function startReceiver() {
  const seen = { count: 0 }
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: () => {
      seen.count++
      return new Response(null)
    },
  })
  return {
    url: `http://127.0.0.1:${server.port}/hook`,
    count: () => seen.count,
    [Symbol.asyncDispose]: () => server.stop(true),
  }
}
