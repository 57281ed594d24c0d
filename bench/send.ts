import { Stage } from './torture/stage.ts'
import { runLoad } from './support/load.ts'

/** A server that parses the same body and stores nothing: the limit that no durable design can pass. */
const FLOOR = `const server = Bun.serve({ port: 0, hostname: '127.0.0.1', async fetch(request) {
  const { to } = await request.json()
  return Response.json({ messageId: 'msg_000000000000', status: to ? 'queued' : '' }, { status: 202 })
} })
console.log(server.port)`

const ROUNDS = 3
const DURATION_MS = 3000
const CONNECTIONS = 64

/** Accepting messages while the provider takes 150 ms an answer, beside the floor, in turn. */
export async function benchAccept(): Promise<Record<string, string | number>[]> {
  const floor = Bun.spawn(['bun', '-e', FLOOR], { stdout: 'pipe' })
  const floorPort = Number(new TextDecoder().decode((await floor.stdout.getReader().read()).value))
  const stage = await Stage.open({ extensions: 1, numbersPerExtension: 1, env: { PROVIDER_TIMEOUT: '15s' } })
  await stage.control.setLimits({ enabled: false })
  await stage.control.fault({ route: 'sms', calls: null, fault: { kind: 'delay', ms: 150 } })
  const ratios: { floor: number; sgw: number }[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const measure = async (port: number): Promise<number> =>
      (await runLoad({ hostname: '127.0.0.1', port, connections: CONNECTIONS, durationMs: DURATION_MS, request: sendRequest(stage) })).requestsPerSecond
    ratios.push({ floor: await measure(floorPort), sgw: await measure(stage.gateway.options.port) })
  }
  floor.kill()
  if (Bun.env['PROF']) await stage.gateway.terminate()
  await stage[Symbol.asyncDispose]()
  return ratios.map(({ floor: limit, sgw }) => ({ 'floor/s': limit, 'accepted/s': sgw, ratio: (sgw / limit).toFixed(2) }))
}

const sendRequest =
  ({ key, numbers }: Stage) =>
  (n: number): string => {
    const text = `Hello number ${n}, this is a message of an ordinary length, as people send them every day.`
    const body = JSON.stringify({ to: '+15555550199', from: numbers[0], body: text })
    return `POST /v1/sms/send HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`
  }

if (import.meta.main) console.table(await benchAccept())
