import { Database } from 'bun:sqlite'
import { createSecrets } from '../src/core/secrets.ts'
import { seededRandom } from '../src/simulator/random.ts'
import type { Row } from './row.ts'
import { runLoad } from './support/load.ts'
import { Stage } from './torture/stage.ts'

const EVENTS = 1000
const DUPLICATES = 300
const ROUNDS = 3
const CONNECTIONS = [64, 256] as const
const SUSTAINED_MS = 3000
const TOKEN = 'a verification token of this bench'.replaceAll(' ', '-')
const EXTENSION = '629890016'

/**
 * Provider events as the platform POSTs them, answered when they are on disk, while each is fanned out to a webhook:
 * bursts of 1,000 with 30 % duplicates, shuffled, and then as many as 64 connections can bring.
 */
async function benchInbound(): Promise<Row[]> {
  const receiver = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response('ok') })
  const key = crypto.getRandomValues(new Uint8Array(32))
  await using stage = await Stage.open({
    extensions: 1,
    numbersPerExtension: 1,
    webhookUrl: receiver.url.href,
    env: { ENCRYPTION_KEYS: key.toBase64() },
  })
  subscribe(stage, createSecrets([key]).hash(TOKEN))
  const rows: Row[] = []
  let firstId = 3_062_991_000_000
  for (const connections of CONNECTIONS) {
    for (let round = 1; round <= ROUNDS; round++) {
      rows.push({
        load: `burst of ${EVENTS}, ${connections} at once, round ${round}`,
        ...(await burst(stage, connections, firstId)),
      })
      firstId += EVENTS
      await stage.drained()
    }
  }
  rows.push({ load: `sustained, ${CONNECTIONS[0]} connections`, ...(await sustained(stage, firstId)) })
  await receiver.stop(true)
  return rows
}

/** A subscription whose token we know; the real one's is a secret between gateway and provider. */
function subscribe(stage: Stage, tokenHash: string): void {
  using database = new Database(stage.databasePath)
  database.run('PRAGMA busy_timeout = 5000')
  database.run(
    `INSERT INTO subscriptions (id, tenant_id, extension_id, provider_id, token_hash, status, created_at)
      SELECT 'sub_bench', tenant_id, '${EXTENSION}', 'bench', ?1, 'active', 0 FROM apps LIMIT 1`,
    [tokenHash],
  )
}

async function burst(stage: Stage, connections: number, firstId: number): Promise<Row> {
  const bodies = shuffled(seededRandom(firstId), firstId).map(eventBody)
  const latencies: number[] = []
  let refused = 0
  const worker = async (): Promise<void> => {
    for (let body = bodies.pop(); body !== undefined; body = bodies.pop()) {
      const startedAt = performance.now()
      const { status } = await fetch(`${stage.gateway.url}/v1/webhooks/provider`, {
        method: 'POST',
        headers: { 'verification-token': TOKEN },
        body,
      })
      latencies.push(performance.now() - startedAt)
      if (status !== 200) refused++
    }
  }
  const startedAt = performance.now()
  await Promise.all(Array.from({ length: connections }, worker))
  const seconds = (performance.now() - startedAt) / 1000
  const sorted = latencies.toSorted((a, b) => a - b)
  const at = (share: number): number => Math.round(sorted[Math.floor((sorted.length - 1) * share)] ?? 0)
  return { 'events/s': Math.round(EVENTS / seconds), 'p50 ms': at(0.5), 'p99 ms': at(0.99), 'max ms': at(1), refused }
}

async function sustained(stage: Stage, firstId: number): Promise<Row> {
  const { port } = stage.gateway.options
  const request = (n: number): string => {
    const body = eventBody(firstId + n)
    return `POST /v1/webhooks/provider HTTP/1.1\r\nHost: gateway\r\nVerification-Token: ${TOKEN}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`
  }
  const result = await runLoad({
    hostname: '127.0.0.1',
    port,
    connections: CONNECTIONS[0],
    durationMs: SUSTAINED_MS,
    request,
  })
  const refused = Object.entries(result.statuses).reduce(
    (sum, [status, count]) => sum + (status === '200' ? 0 : count),
    0,
  )
  return {
    'events/s': result.requestsPerSecond,
    'p50 ms': Math.round(result.p50),
    'p99 ms': Math.round(result.p99),
    refused,
  }
}

function shuffled(random: () => number, firstId: number): number[] {
  const distinct = Array.from({ length: EVENTS - DUPLICATES }, (_, index) => firstId + index)
  const copies = Array.from({ length: DUPLICATES }, () => firstId + Math.floor(random() * distinct.length))
  return [...distinct, ...copies]
    .map((id) => ({ id, place: random() }))
    .toSorted((a, b) => a.place - b.place)
    .map(({ id }) => id)
}

const eventBody = (id: number): string =>
  JSON.stringify({
    uuid: String(id),
    event: `/restapi/v1.0/account/809640016/extension/${EXTENSION}/message-store/instant?type=SMS`,
    timestamp: '2026-11-21T02:31:45.034Z',
    subscriptionId: 'bench',
    ownerId: EXTENSION,
    body: {
      id: String(id),
      to: [{ phoneNumber: '+15555550100', name: 'Alice', target: true }],
      from: {
        phoneNumber: '+15555550123',
        phoneNumberInfo: { countryCode: '1', nationalDestinationCode: '555', subscriberNumber: '5550123' },
      },
      type: 'SMS',
      creationTime: '2026-11-21T02:31:45.028Z',
      direction: 'Inbound',
      subject: `Message ${id}, of an ordinary length, as people send them every day.`,
      messageStatus: 'Received',
      eventType: 'Create',
    },
  })

export default { name: 'inbound', run: benchInbound }

if (import.meta.main) console.table(await benchInbound())
