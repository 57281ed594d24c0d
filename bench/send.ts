import type { Row } from './row.ts'
import { runLoad } from './support/load.ts'
import { Stage } from './torture/stage.ts'

/** A server that parses the same body and stores nothing: the limit that no durable design can pass. */
const FLOOR = `const server = Bun.serve({ port: 0, hostname: '127.0.0.1', async fetch(request) {
  const { to } = await request.json()
  return Response.json({ messageId: 'msg_000000000000', status: to ? 'queued' : '' }, { status: 202 })
} })
console.log(server.port)`

const ROUNDS = 3
const DURATION_MS = 3000
const CONNECTIONS = 64
const PROVIDER_DELAY_MS = 150

/** Accepting messages (durable 202) while the provider takes 150 ms an answer, beside the floor, in turn. */
export async function benchAccept(): Promise<Row[]> {
  const floor = Bun.spawn(['bun', '-e', FLOOR], { stdout: 'pipe' })
  try {
    const floorPort = Number(await firstLine(floor.stdout))
    await using stage = await Stage.open({ extensions: 1, numbersPerExtension: 1, env: { PROVIDER_TIMEOUT: '15s' } })
    await stage.control.setLimits({ enabled: false })
    await stage.control.fault({ route: 'sms', calls: null, fault: { kind: 'delay', ms: PROVIDER_DELAY_MS } })
    const rows: Row[] = []
    for (let round = 0; round < ROUNDS; round++) {
      const limit = await rate(stage, floorPort)
      const accepted = await rate(stage, stage.gateway.options.port)
      rows.push({ 'floor/s': limit, 'accepted/s': accepted, ratio: (accepted / limit).toFixed(2) })
    }
    return rows
  } finally {
    floor.kill()
  }
}

async function rate(stage: Stage, port: number): Promise<number> {
  const request = sendRequest(stage)
  const load = { hostname: '127.0.0.1', port, connections: CONNECTIONS, durationMs: DURATION_MS, request }
  return (await runLoad(load)).requestsPerSecond
}

async function firstLine(stream: ReadableStream<Uint8Array>): Promise<string> {
  for await (const chunk of stream) return new TextDecoder().decode(chunk).trim()
  throw new Error('The floor did not start')
}

const sendRequest =
  ({ key, numbers }: Stage) =>
  (n: number): string => {
    const text = `Hello number ${n}, this is a message of an ordinary length, as people send them every day.`
    const body = JSON.stringify({ to: '+15555550199', from: numbers[0], body: text })
    const head = [
      'POST /v1/sms/send HTTP/1.1',
      'Host: 127.0.0.1',
      `Authorization: Bearer ${key}`,
      `Content-Length: ${body.length}`,
    ]
    return `${head.join('\r\n')}\r\n\r\n${body}`
  }
