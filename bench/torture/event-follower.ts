import type { TortureStage } from './stage.ts'

export interface LoggedEvent {
  type: string
  messageId: string
  status?: string
}

interface Page {
  events: LoggedEvent[]
  cursor: string
  gap: boolean
}

const PAUSE_MS = 20
const MAX_PAGE_SIZE = 50

/** Follows `GET /v1/events` from now on, across stops and starts of the gateway. */
export class EventFollower {
  readonly events: LoggedEvent[] = []
  pages = 0
  gaps = 0
  #isStopped = false
  #following: Promise<void> | null = null

  private constructor(
    readonly stage: TortureStage,
    readonly random: () => number,
    private cursor: string,
  ) {}

  static async start(stage: TortureStage, random: () => number): Promise<EventFollower> {
    const response = await stage.call('GET', '/v1/events')
    const { cursor } = (await response.json()) as Page
    const follower = new EventFollower(stage, random, cursor)
    follower.#following = follower.#follow()
    return follower
  }

  /** Reads to the end of the log. */
  async stop(): Promise<void> {
    this.#isStopped = true
    await this.#following
    while (!(await this.#readPage()));
  }

  async #follow(): Promise<void> {
    while (!this.#isStopped) {
      const isAtEnd = await this.#readPage().catch(() => true)
      if (isAtEnd) await Bun.sleep(PAUSE_MS)
    }
  }

  /** Returns true at the end of the log. Throws while the gateway is down. */
  async #readPage(): Promise<boolean> {
    const limit = 1 + Math.floor(this.random() * MAX_PAGE_SIZE)
    const response = await this.stage.call('GET', `/v1/events?after=${this.cursor}&limit=${limit}`)
    if (!response.ok) throw new Error(`GET /v1/events answered ${response.status}`)
    const { events, cursor, gap } = (await response.json()) as Page
    this.events.push(...events)
    this.cursor = cursor
    this.pages++
    if (gap) this.gaps++
    return events.length === 0
  }
}
