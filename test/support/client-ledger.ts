import { Sgw } from '../../src/client/sgw.ts'

/** What clients were promised and did not get. If commits wait for the replica, all but the first must be 0. */
export interface Broken {
  accepted: number
  /** Accepted messages that the gateway does not know. */
  lost: number
  /** Texts that the provider has more than once. */
  twice: number
  /** Texts that the provider has after a later one of their conversation. */
  outOfOrder: number
  /** Accepted messages that did not end as sent. */
  stuck: number
  /** Events of the log that the following client did not get, or that it got and the log does not have. */
  events: number
  /** How often that client was told that it may have missed some. */
  gaps: number
}

/** An API as clients see it. */
export interface Api {
  url: string
  key: string
  call(method: string, path: string): Promise<Response>
}

/** What the gateway's clients know: the messages that were accepted, and the events that a follower was given. */
export class ClientLedger implements Disposable {
  readonly accepted: string[] = []
  /** The events that only the client or only the log has, for a person who searches for the cause. */
  readonly differences: string[] = []
  readonly #seen: string[] = []
  #gaps = 0
  #firstCursor = ''
  readonly #following = new AbortController()

  private constructor(readonly api: Api) {}

  /** From now on, the typed client follows the events across every loss. */
  static async start(api: Api): Promise<ClientLedger> {
    const ledger = new ClientLedger(api)
    const client = new Sgw({ baseUrl: api.url, apiKey: api.key })
    ledger.#firstCursor = await client.eventCursor()
    const stream = client.events({ after: ledger.#firstCursor, signal: ledger.#following.signal })
    const follow = async (): Promise<void> => {
      for await (const event of stream)
        if (event.type === 'gap') ledger.#gaps++
        else ledger.#seen.push(JSON.stringify(event))
    }
    // It ends with an error if its key is lost with the machine.
    follow().catch(() => ledger.#gaps++)
    return ledger
  }

  /** Compares what clients know with what the gateway and the provider have (`texts`, oldest first). Call it when everything has ended. */
  async broken(texts: readonly string[]): Promise<Broken> {
    const status: (string | null)[] = []
    for (const ids of batches(this.accepted)) status.push(...(await Promise.all(ids.map((id) => this.#statusOf(id)))))
    return {
      accepted: this.accepted.length,
      lost: status.filter((found) => found === null).length,
      twice: texts.length - new Set(texts).size,
      outOfOrder: outOfOrder(texts),
      stuck: status.filter((found) => found !== null && found !== 'sent').length,
      events: await this.#differenceOfEvents(),
      gaps: this.#gaps,
    }
  }

  async #statusOf(messageId: string): Promise<string | null> {
    const response = await this.api.call('GET', `/v1/sms/status/${messageId}`)
    return response.status === 404 ? null : ((await response.json()) as { status: string }).status
  }

  /**
   * Waits until the client has everything in the log, and counts the events that only one of them has. The log may grow in the meantime, so it
   * is read again before an event of the client counts as missing from it.
   */
  async #differenceOfEvents(): Promise<number> {
    const logged = await this.#loggedEvents()
    const unseen = (): Set<string> => new Set(logged).difference(new Set(this.#seen))
    for (let waited = 0, given = 0; unseen().size > 0 && waited < FOLLOWING_MS; waited += 50) {
      if (this.#seen.length > given) waited = 0
      given = this.#seen.length
      await Bun.sleep(50)
    }
    const seen = new Set(this.#seen)
    const unlogged = seen.difference(new Set(await this.#loggedEvents()))
    this.differences.push(...[...unseen()].map((event) => `not given: ${event}`))
    this.differences.push(...[...unlogged].map((event) => `not in the log: ${event}`))
    return this.differences.length
  }

  async #loggedEvents(): Promise<string[]> {
    const events: string[] = []
    for (let after = this.#firstCursor; ;) {
      const response = await this.api.call('GET', `/v1/events?after=${after}&limit=1000`)
      const page = (await response.json()) as { events: object[]; cursor: string }
      if (page.events.length === 0) return events
      events.push(...page.events.map((event) => JSON.stringify(event)))
      after = page.cursor
    }
  }

  [Symbol.dispose](): void {
    this.#following.abort()
  }
}

/** How long nothing may come: after several losses in a row, the client pauses up to 30 s before it reconnects. */
const FOLLOWING_MS = 45_000
const STATUS_CONNECTIONS = 32

const batches = (ids: readonly string[]): string[][] =>
  Array.from({ length: Math.ceil(ids.length / STATUS_CONNECTIONS) }, (_, batch) =>
    ids.slice(batch * STATUS_CONNECTIONS, (batch + 1) * STATUS_CONNECTIONS),
  )

/** A text is `<load> <conversation> <number>`. A conversation sends one message after the other. */
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
