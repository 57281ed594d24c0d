import { Sgw } from '../../src/client/sgw.ts'
import { untilDrained } from './backup-loss.ts'
import { Deployment, NUMBER } from './deployment.ts'
import { DistantStorage } from './distant-storage.ts'

/** What the loss of machines has cost. All but the first three must be 0 where commits wait for the replica. */
export interface Losses {
  times: number
  accepted: number
  /** From the start of the entry point until the gateway serves, in milliseconds; one for each loss. */
  restartMs: number[]
  /** Accepted messages that the gateway does not know. */
  lost: number
  /** Texts that the provider has more than once. */
  twice: number
  /** Texts that the provider has after a later one of their conversation. */
  outOfOrder: number
  /** Accepted messages that did not end as sent. */
  stuck: number
  /** Events of the log that the client who followed was not given, or that it was given and the log does not have. */
  events: number
  /** How often that client was told that it may have missed some. */
  gaps: number
}

/** `at a stop`: after a SIGTERM to all processes, which ends Litestream before the gateway. */
export type Moment = 'any time' | 'during an upload' | 'at a stop'

/** A deployment whose storage is some way off, under load, whose machine is lost again and again. */
export class MachineLoss implements AsyncDisposable {
  readonly #accepted: string[] = []
  readonly #restartMs: number[] = []
  readonly #seen: string[] = []
  #gaps = 0
  #label = 0
  #firstCursor = ''
  readonly #following = new AbortController()

  private constructor(
    readonly deployment: Deployment,
    readonly storage: DistantStorage,
  ) {}

  /** `environment`: the variables of the storage, whose LITESTREAM_ENDPOINT is its address. */
  static async start(environment: Record<string, string>, roundTripMs: number): Promise<MachineLoss> {
    const storage = await DistantStorage.start(environment['LITESTREAM_ENDPOINT'] ?? '', roundTripMs)
    const deployment = await Deployment.create({ ...environment, LITESTREAM_ENDPOINT: storage.url })
    const drill = new MachineLoss(deployment, storage)
    await deployment.start()
    await deployment.connect('http://127.0.0.1:9/nobody')
    await drill.#follow()
    return drill
  }

  /** Sends on this many connections until `ends`. Returns how many messages were accepted. */
  async load(connections: number, ends: Promise<unknown>): Promise<number> {
    const before = this.#accepted.length
    let isOver = false
    const over = ends.finally(() => (isOver = true))
    const label = ++this.#label
    const send = async (connection: number): Promise<void> => {
      for (let number = 0; !isOver; number++) await this.#send(`${label} ${connection} ${number}`, connection)
    }
    await Promise.all([over, ...Array.from({ length: connections }, (_, connection) => send(connection))])
    return this.#accepted.length - before
  }

  /** Loses the machine with its disk under load, and starts another one. */
  async lose(moment: Moment, connections: number, loadMs: number): Promise<void> {
    await this.load(
      connections,
      Bun.sleep(loadMs).then(() => this.#end(moment)),
    )
    this.deployment.loseVolume()
    this.#restartMs.push(Math.round(await this.deployment.start({ REQUIRE_RESTORE: '1' })))
  }

  /** Waits until everything has ended, and compares what clients know with what gateway and provider have. */
  async losses(): Promise<Losses> {
    const { deployment } = this
    await untilDrained(deployment, 120_000)
    const status = await Promise.all(this.#accepted.map((id) => this.#statusOf(id)))
    const sent = await deployment.simulator.control<{ text: string }[]>('messages', {
      direction: 'Outbound',
      limit: 1_000_000,
    })
    const texts = sent.map(({ text }) => text)
    return {
      times: this.#restartMs.length,
      accepted: this.#accepted.length,
      restartMs: this.#restartMs,
      lost: status.filter((found) => found === null).length,
      twice: texts.length - new Set(texts).size,
      outOfOrder: outOfOrder(texts),
      stuck: status.filter((found) => found !== null && found !== 'sent').length,
      events: await this.#differenceOfEvents(),
      gaps: this.#gaps,
    }
  }

  async #end(moment: Moment): Promise<unknown> {
    if (moment === 'at a stop') return this.deployment.terminateAll()
    if (moment === 'during an upload') await this.storage.nextUpload()
    return this.deployment.crash(this.#label % 2 === 0)
  }

  async #send(text: string, connection: number): Promise<void> {
    const response = await this.deployment
      .call('POST', '/v1/sms/send', { from: NUMBER, to: `+1555${7_000_000 + connection}`, body: text })
      .catch(() => null)
    const answer = (await response?.json().catch(() => null)) as { messageId: string } | null
    if (response?.status === 202 && answer !== null) this.#accepted.push(answer.messageId)
    else await Bun.sleep(50)
  }

  async #statusOf(messageId: string): Promise<string | null> {
    const response = await this.deployment.call('GET', `/v1/sms/status/${messageId}`)
    return response.status === 404 ? null : ((await response.json()) as { status: string }).status
  }

  /** The typed client follows the events over every loss. */
  async #follow(): Promise<void> {
    const { url, key } = this.deployment
    const client = new Sgw({ baseUrl: url, apiKey: key })
    this.#firstCursor = await client.eventCursor()
    const stream = client.events({ after: this.#firstCursor, signal: this.#following.signal })
    const follow = async (): Promise<void> => {
      for await (const event of stream)
        if (event.type === 'gap') this.#gaps++
        else this.#seen.push(JSON.stringify(event))
    }
    // It ends with an error if its key is lost with the machine.
    follow().catch(() => this.#gaps++)
  }

  /** Waits until the client has had as many events as the log has, and counts those that only one of them has. */
  async #differenceOfEvents(): Promise<number> {
    const logged = await this.#loggedEvents()
    const deadline = performance.now() + FOLLOWING_MS
    while (this.#seen.length < logged.length && performance.now() < deadline) await Bun.sleep(50)
    const [seen, log] = [new Set(this.#seen), new Set(logged)]
    return seen.symmetricDifference(log).size
  }

  async #loggedEvents(): Promise<string[]> {
    const events: string[] = []
    for (let after = this.#firstCursor; ;) {
      const response = await this.deployment.call('GET', `/v1/events?after=${after}&limit=1000`)
      const page = (await response.json()) as { events: object[]; cursor: string }
      if (page.events.length === 0) return events
      events.push(...page.events.map((event) => JSON.stringify(event)))
      after = page.cursor
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#following.abort()
    await this.deployment[Symbol.asyncDispose]()
    await this.storage[Symbol.asyncDispose]()
  }
}

const FOLLOWING_MS = 10_000

/** A text is `<load> <connection> <number>`. Each load's connection is a conversation that sends one message after the other. */
function outOfOrder(texts: readonly string[]): number {
  const latest = new Map<string, number>()
  let count = 0
  for (const text of texts) {
    const [load = '', connection = '', number = ''] = text.split(' ')
    const conversation = `${load} ${connection}`
    if (Number(number) < (latest.get(conversation) ?? -1)) count++
    latest.set(conversation, Math.max(Number(number), latest.get(conversation) ?? -1))
  }
  return count
}
