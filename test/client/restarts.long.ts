import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { type EventPage, type GapEvent, type GatewayEvent, Sgw } from '../../src/client/client.ts'
import { type PipedProgram, startProgram, temporaryFolder } from '../support/process.ts'
import { freePort } from '../support/program.ts'
import { until } from '../support/world.ts'
import { type Random, createRandom } from '../simulation/random.ts'

const ROUNDS = 8
const FROM = '+15555550100'
const TO = '+15555550199'
const STATUSES = ['queued', 'sending', 'sent']
const seed = Number(process.env['SEED'] ?? crypto.getRandomValues(new Uint32Array(1))[0])

test(`events() yields each event once and in order while the gateway is killed and restarted (SEED=${seed})`, async () => {
  const random = createRandom(seed)
  await using gateway = new RestartedGateway()
  await gateway.start()
  const sgw = new Sgw({ baseUrl: gateway.url, apiKey: gateway.key, maxRetries: 20, timeoutMs: 5000 })
  const { cursor } = await sgw.request<EventPage>('GET', '/v1/events')
  await using follower = new Follower(sgw)
  await until(() => follower.isOnline)
  const sent: string[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const sending = sendSome(sgw, random, sent)
    await Bun.sleep(random.ms(0, 400))
    await gateway.end(random.chance(0.7) ? 'SIGKILL' : 'SIGTERM')
    await Bun.sleep(random.ms(0, 300))
    await gateway.start()
    await sending
  }
  await until(() => sent.every((id) => follower.statusesOf(id).at(-1) === 'sent'), 60_000)
  // Deliveries still arrive: both are taken in the same moment.
  const { followed, logged } = await until(async () => {
    const events = await eventsAfter(sgw, cursor)
    return follower.items.length === events.length && { followed: [...follower.items], logged: events }
  })
  expect(followed).toEqual(logged)
  for (const id of sent) expect([id, follower.changesOf(id)]).toEqual([id, STATUSES])
  expect(follower.repeated()).toEqual([])
}, 120_000)

test(`events() tells a gap where a killed gateway has lost events (SEED=${seed})`, async () => {
  const random = createRandom(seed)
  await using gateway = new RestartedGateway()
  await gateway.start()
  const sgw = new Sgw({ baseUrl: gateway.url, apiKey: gateway.key, maxRetries: 20, timeoutMs: 5000 })
  await using follower = new Follower(sgw)
  await until(() => follower.isOnline)
  for (let round = 0; round < 4; round++) {
    const [before] = [(await sendAll(sgw, 3)).at(-1) ?? '']
    await until(() => follower.statusesOf(before).includes('sent'))
    // The follower is away, so it cannot hear these.
    follower.pause()
    const missed = await sendAll(sgw, random.int(2, 6))
    // One that is under way at the kill is looked up, and what comes after it waits.
    for (const id of missed) await until(async () => (await sgw.sms.get(id)).status === 'sent')
    await gateway.end('SIGKILL')
    gateway.purgeEvents()
    await gateway.start()
    const gaps = follower.items.filter(({ type }) => type === 'gap').length
    follower.resume()
    await until(() => follower.items.filter(({ type }) => type === 'gap').length === gaps + 1)
    const [after = ''] = await sendAll(sgw, 1)
    await until(() => follower.statusesOf(after).includes('sent'))
    expect(follower.changesOf(after)).toEqual(STATUSES)
    expect(follower.items.filter(({ type }) => type === 'gap')).toHaveLength(gaps + 1)
  }
  expect(follower.repeated()).toEqual([])
}, 60_000)

/** A gateway of its own process, with the same database and address at each start. */
class RestartedGateway implements AsyncDisposable {
  readonly #folder = temporaryFolder()
  readonly #port = freePort()
  readonly url = `http://127.0.0.1:${this.#port}`
  #program: PipedProgram | null = null

  get key(): string {
    return readFileSync(this.#folder.file('development-api-key'), 'utf8').trim()
  }

  async start(): Promise<void> {
    const env = { PORT: String(this.#port), DATABASE_URL: this.#folder.database, NODE_ENV: 'test' }
    this.#program = startProgram('src/main.ts', ['--test'], env)
    await until(async () => (await fetch(`${this.url}/health`).catch(() => null))?.ok)
  }

  async end(signal: NodeJS.Signals): Promise<void> {
    this.#program?.kill(signal)
    await this.#program?.ended()
  }

  /** What a purge does, and the loss of the end of the log in a restore. */
  purgeEvents(): void {
    using database = new Database(this.#folder.file('sgw.db'))
    database.run('DELETE FROM events WHERE seq < (SELECT max(seq) FROM events)')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#program?.[Symbol.asyncDispose]()
    this.#folder[Symbol.dispose]()
  }
}

/** Follows the events until it is disposed of. */
class Follower implements AsyncDisposable {
  readonly items: (GatewayEvent | GapEvent)[] = []
  isOnline = false
  readonly #stop = new AbortController()
  readonly #ended: Promise<void>
  #resumed = Promise.resolve()
  #resume: () => void = () => undefined

  constructor(sgw: Sgw) {
    const onState = ({ online }: { online: boolean }) => void (this.isOnline = online)
    this.#ended = this.#follow(sgw.events({ signal: this.#stop.signal, onState }))
  }

  /** The loop does not continue after its next event until `resume`. */
  pause(): void {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#resumed = promise
    this.#resume = resolve
  }

  resume(): void {
    this.#resume()
  }

  statusesOf(messageId: string): string[] {
    return this.items.flatMap((item) =>
      item.type === 'sms_status' && item.messageId === messageId ? [item.status] : [],
    )
  }

  /** The statuses without an attempt that was made again after a crash: `sending` comes once for each. */
  changesOf(messageId: string): string[] {
    const statuses = this.statusesOf(messageId)
    return statuses.filter((status, index) => status !== 'sending' || statuses.indexOf('sending') === index)
  }

  /** Events that came more than once. */
  repeated(): string[] {
    const texts = this.items.filter(({ type }) => type !== 'gap').map((item) => JSON.stringify(item))
    return texts.filter((text, index) => texts.indexOf(text) !== index)
  }

  async #follow(stream: AsyncIterable<GatewayEvent | GapEvent>): Promise<void> {
    for await (const item of stream) {
      this.items.push(item)
      await this.#resumed
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#resume()
    this.#stop.abort()
    await this.#ended
  }
}

/** Sends until the gateway has been away and is back. A message that the gateway refuses, because it stops, is left out. */
async function sendSome(sgw: Sgw, random: Random, sent: string[]): Promise<void> {
  const messages = Array.from({ length: random.int(1, 20) }, (_, index) => `${index} ${random.int(0, 1e9)}`)
  await Promise.all(
    messages.map(async (body) => {
      await Bun.sleep(random.ms(0, 500))
      const { messageId } = await sgw.sms.send({ to: TO, from: FROM, body })
      sent.push(messageId)
    }),
  )
}

/** All events of the log after a cursor. */
async function eventsAfter(sgw: Sgw, cursor: string): Promise<GatewayEvent[]> {
  const all: GatewayEvent[] = []
  for (let after = cursor; ;) {
    const page: EventPage = await sgw.request('GET', '/v1/events', { query: { after, limit: 1000 } })
    if (page.events.length === 0) return all
    all.push(...page.events)
    after = page.cursor
  }
}

async function sendAll(sgw: Sgw, count: number): Promise<string[]> {
  const ids: string[] = []
  for (let index = 0; index < count; index++) {
    const { messageId } = await sgw.sms.send({ to: TO, from: FROM, body: `${index}` })
    ids.push(messageId)
  }
  return ids
}
