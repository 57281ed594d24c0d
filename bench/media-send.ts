import { type Bench, type Row, shortened } from './bench.ts'
import { BenchGateway } from './gateway/bench-gateway.ts'
import { THOUSAND_NUMBERS } from './gateway/numbers.ts'
import { postRequest, requests } from './rivals/contestant.ts'
import { load } from './rivals/load.ts'
import { startProvider } from './rivals/provider-process.ts'
import { holdLoadCore, toContestantCore } from './support/cores.ts'
import { cpuMicroseconds } from './support/cpu-time.ts'
import { eventually } from './torture/program.ts'

const PICTURE_BYTES = 100_000
const CONNECTIONS = 8
const WARM_UP_MS = 3000
const LOAD_MS = 2000
const DRAIN_MS = 300_000

/** The cost of a message with a picture of 100 KB compared with a text, at a provider that answers immediately. */
export const mediaSend: Bench = {
  name: 'media send',
  async run(options) {
    using _core = holdLoadCore()
    await using provider = await startProvider(0)
    await using gateway = await BenchGateway.open({ ...THOUSAND_NUMBERS, provider, started: toContestantCore })
    const mediaIds = [await upload(gateway)]
    const auth = [`Authorization: Bearer ${gateway.key}`]
    let total = 0
    const rowOf = async (name: string, more: object): Promise<Row> => {
      const request = requests((message) => postRequest('/v1/sms/send', { ...message, ...more }, auth))
      const send = async (ms: number): Promise<number> => {
        const { accepted } = await load({ port: gateway.port, request }, CONNECTIONS, shortened(options, ms))
        total += accepted
        await eventually('The calls', DRAIN_MS, async () => ((await provider.calls()) >= total ? true : null))
        return accepted
      }
      await send(WARM_UP_MS)
      return { message: name, ...(await figuresOf(gateway, () => send(LOAD_MS))) }
    }
    return [await rowOf('a text', {}), await rowOf('100 KB of media', { mediaIds })]
  },
}

async function figuresOf({ pid }: BenchGateway, send: () => Promise<number>): Promise<Row> {
  const usedBefore = cpuMicroseconds([pid])
  const startedAt = performance.now()
  const messages = await send()
  const seconds = (performance.now() - startedAt) / 1000
  return {
    'sent/s': Math.round(messages / seconds),
    'CPU µs': Math.round((cpuMicroseconds([pid]) - usedBefore) / messages),
    messages,
  }
}

async function upload({ port, key }: BenchGateway): Promise<string> {
  const answer = await fetch(`http://127.0.0.1:${port}/v1/sms/media?fileName=door.jpg`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'image/jpeg' },
    body: Buffer.concat([Buffer.from([0xff, 0xd8, 0xff]), Buffer.alloc(PICTURE_BYTES - 3, 7)]),
  })
  return ((await answer.json()) as { mediaId: string }).mediaId
}
