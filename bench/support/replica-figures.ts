import { untilDrained } from '../../test/support/backup-loss.ts'
import { Deployment, NUMBER } from '../../test/support/deployment.ts'
import { DistantStorage } from '../../test/support/distant-storage.ts'
import { type LoadResult, runLoad } from './load.ts'

export interface ReplicaLoad {
  /** `on`: the gateway holds a lease, which it reads after each upload. */
  standby: 'on' | 'off'
  roundTripMs: number
  connections: number
  seconds: number
}

const START_MS = 40_000

/** How fast a gateway with DURABILITY=replica accepts and sends, and what it uploads. */
export async function measureReplica(environment: Record<string, string>, load: ReplicaLoad) {
  await using storage = await DistantStorage.start(environment['LITESTREAM_ENDPOINT'] ?? '', load.roundTripMs)
  await using deployment = await Deployment.create({
    ...environment,
    LITESTREAM_ENDPOINT: storage.url,
    DURABILITY: 'replica',
    LOG_LEVEL: 'warn',
    STANDBY: load.standby,
    PROVIDER_TIMEOUT: '2s',
    RECONCILE_SETTLE: '7s',
  })
  await deployment.begin().serving(`${deployment.url}/ready`, START_MS)
  await deployment.connect('http://127.0.0.1:9/nobody')
  const alone = await accept(deployment, 1, 2000)
  const [uploads, messages] = [storage.uploads, await messagesOf(deployment)]
  const startedAt = performance.now()
  const together = await accept(deployment, load.connections, load.seconds * 1000)
  await untilDrained(deployment, 120_000)
  const seconds = (performance.now() - startedAt) / 1000
  const sent = (await messagesOf(deployment)) - messages
  return {
    standby: load.standby,
    'round trip ms': load.roundTripMs,
    connections: load.connections,
    'alone, p50 ms': Math.round(alone.p50),
    'p50 ms': Math.round(together.p50),
    'p99 ms': Math.round(together.p99),
    'accepted a second': Math.round(together.requestsPerSecond),
    'sent a second': Math.round(sent / seconds),
    'uploads for 1000 messages': Math.round(((storage.uploads - uploads) * 1000) / sent),
  }
}

async function accept({ url, key }: Deployment, connections: number, durationMs: number): Promise<LoadResult> {
  const { hostname, port } = new URL(url)
  const request = (n: number): string => {
    const body = JSON.stringify({ from: NUMBER, to: `+1555${1_000_000 + n}`, body: 'A message of the bench' })
    return `POST /v1/sms/send HTTP/1.1\r\nhost: bench\r\nauthorization: Bearer ${key}\r\ncontent-length: ${body.length}\r\n\r\n${body}`
  }
  const result = await runLoad({ hostname, port: Number(port), connections, durationMs, request })
  const refused = Object.keys(result.statuses).filter((status) => status !== '202')
  if (refused.length > 0) throw new Error(`Sends were answered with ${refused.join(', ')}`)
  return result
}

async function messagesOf(deployment: Deployment): Promise<number> {
  const response = await deployment.call('GET', '/v1/sms/messages?limit=1')
  return ((await response.json()) as { total: number }).total
}
