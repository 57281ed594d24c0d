import { type Clock, sleep } from '../../core/clock.ts'
import { RENEW_LEASE_EVERY_MS } from '../../core/limits.ts'
import { StartError } from '../../core/start-error.ts'
import type { LeaseContent, LeaseObject } from './lease-object.ts'

/** A moment by both clocks of the process: either may stop while the machine sleeps. */
export interface Moment {
  monotonic: number
  now: number
}

/** What the process wants for its lease. It sends this each second, which also shows that its event loop runs. */
export interface Wish {
  content: LeaseContent
  /** `free`: another gateway may take the lease for now. `released`: the lease stays free, and nothing more is written. */
  state: 'held' | 'free' | 'released'
  saidAt: Moment
  /** Without a new wish for this long, the lease becomes free. */
  patienceMs: number
}

/** `at`: no later than the start of the renewal. `written`: `LeaseObject.written`. */
export type Notice =
  | { type: 'renewed'; at: Moment; written: number }
  | { type: 'freed'; written: number }
  | { type: 'failing'; reason: string }
  | { type: 'lost'; why: string }
  | { type: 'released' }

/** How often the lease is renewed without a wish: several times during its lifetime. */
const ALONE_EVERY_MS = 2 * RENEW_LEASE_EVERY_MS

/** Writes the lease that a process holds: at each wish, and on its own while the process is busy. Runs in a separate thread. */
export class Renewal {
  #heardAt: number
  #isFree = false
  #isOver = false
  #wake: () => void = () => undefined

  constructor(
    readonly object: LeaseObject,
    private etag: string,
    private wish: Wish,
    readonly clock: Clock,
    readonly tell: (notice: Notice) => void,
  ) {
    this.#heardAt = clock.monotonic()
    void this.#run()
  }

  hear(wish: Wish): void {
    this.wish = wish
    this.#heardAt = this.clock.monotonic()
    this.#wake()
  }

  async #run(): Promise<void> {
    for (let done = this.wish; !this.#isOver;) {
      const heard = new Promise<void>((resolve) => (this.#wake = resolve))
      if (this.wish === done) await Promise.race([heard, sleep(this.clock, ALONE_EVERY_MS)])
      done = this.wish
      await this.#write(done).catch((error: unknown) => this.#fail(error))
      if (done.state !== 'released') continue
      this.#isOver = true
      this.tell({ type: 'released' })
    }
  }

  async #write({ content, state, saidAt, patienceMs }: Wish): Promise<void> {
    const { object } = this
    const silentMs = this.clock.monotonic() - this.#heardAt
    const isHeld = state === 'held' && silentMs < patienceMs
    if (!isHeld && this.#isFree) return this.#loseIf(await object.whyLost(content.epoch))
    const etag = await object.write(isHeld ? content : { ...content, holder: '' }, this.etag)
    if (etag === null) return this.#loseIf(await object.whyLost(content.epoch))
    this.etag = etag
    this.#isFree = !isHeld
    const { written } = object
    const at = { monotonic: saidAt.monotonic + silentMs, now: saidAt.now + silentMs }
    this.tell(isHeld ? { type: 'renewed', at, written } : { type: 'freed', written })
  }

  #fail(error: unknown): void {
    if (error instanceof StartError) return this.#loseIf(error.message)
    this.tell({ type: 'failing', reason: error instanceof Error ? error.message : String(error) })
  }

  #loseIf(why: string | null): void {
    if (why === null) return
    this.#isOver = true
    this.tell({ type: 'lost', why })
  }
}
