import { type Clock, sleep } from '../../core/clock.ts'
import type { Lease, Standbys } from '../../core/lease.ts'
import { LEASE_MS, RENEW_LEASE_EVERY_MS } from '../../core/limits.ts'
import type { Log } from '../../core/log.ts'
import { StartError } from '../../core/start-error.ts'
import type { TakenLease } from './await-lease.ts'
import { checkStore } from './doctor-lease.ts'
import type { LeaseObject } from './lease-object.ts'
import { clockDifference } from './object-store.ts'
import type { Moment, Notice, Wish } from './renewal.ts'

export interface HeldLeaseOptions {
  object: LeaseObject
  taken: TakenLease
  clock: Clock
  log: Log
  /** How long the storage may take to store a commit, and to say who holds the lease. */
  replicaTimeoutMs: number
  /** Starts writing the lease. Returns a function that takes further wishes. */
  renew(wish: Wish, hear: (notice: Notice) => void): (wish: Wish) => void
  /** Called once, when another gateway holds the lease. The process must end without sending or acknowledging anything more. */
  lost(why: string): void
  give(): void
}

const RETRY_CHECK_MS = 50
/** If the event loop is held for longer than this while the process works, the process no longer uses its lease. */
const MAX_BUSY_MS = 15_000

/** The lease that this process holds, until it is released or lost. */
export class HeldLease implements Lease {
  readonly epoch: number
  readonly holder: string
  standbys: Standbys | null = null
  #content: TakenLease['content']
  /** `free`: this process can store nothing, so a standby may have the lease. */
  #state: Wish['state'] | 'lost' = 'held'
  /** The start of the last renewal. */
  #renewed: Moment
  /** A start may hold the event loop for an entire migration. */
  #patienceMs = Infinity
  #storedAt: number
  #failure: string | null = null
  #nextRenewal = Promise.withResolvers<void>()
  readonly #released = Promise.withResolvers<void>()
  readonly #tell: (wish: Wish) => void

  constructor(readonly options: HeldLeaseOptions) {
    const { taken, clock, renew } = options
    this.epoch = taken.content.epoch
    this.holder = taken.content.holder
    this.#content = taken.content
    this.#storedAt = taken.takenAt
    this.#renewed = { monotonic: taken.takenAt, now: clock.now() - (clock.monotonic() - taken.takenAt) }
    this.#tell = renew(this.#wish('held'), (notice) => this.#hear(notice))
    this.#planWish()
  }

  granted(): Promise<void> | undefined {
    if (this.#state === 'held' && this.ageMs() < LEASE_MS) return undefined
    return this.#nextRenewal.promise
  }

  ageMs(): number {
    const { clock } = this.options
    return Math.max(clock.monotonic() - this.#renewed.monotonic, clock.now() - this.#renewed.now)
  }

  get isHeld(): boolean {
    return this.#state === 'held' || this.#state === 'free'
  }

  /** Milliseconds since a commit of this process was known to be stored under the lease. */
  unstoredMs(): number {
    return this.options.clock.monotonic() - this.#storedAt
  }

  testStorage = (): Promise<string> => checkStore(this.options.object.store)

  clockDifference = (): string | null => clockDifference(this.options.object.store)

  /** Call it when this epoch has its first copy: from now on no later holder takes an older one. */
  noteCopy(): void {
    this.#content = { ...this.#content, copied: this.epoch, mayBeSent: false }
    this.#sayAgain()
  }

  /** Call it when the gateway works: from now on nothing holds its event loop for long. */
  noteWorking(): void {
    this.#patienceMs = MAX_BUSY_MS
  }

  /** The object storage has a copy of a later epoch. */
  overtaken(epoch: number): void {
    this.#lose(`epoch ${epoch} has begun`)
  }

  give(): void {
    this.options.give()
  }

  /** Whether the object storage has a copy of any holder. */
  get hasWorked(): boolean {
    return this.#content.copied > 0
  }

  /** Lets a standby take over, because this process can store nothing. The next stored commit takes the lease back, if no gateway holds it. */
  suspend(reason: string): void {
    if (this.#state !== 'held') return
    this.options.log.error({ reason }, 'nothing can be stored: the lease is released until storing works again')
    this.#want('free')
  }

  /**
   * Call after an upload: resolves if this process still held the lease then. Errors: the object storage does not answer in time, or the lease
   * is lost.
   */
  async check(): Promise<void> {
    const { clock, object, replicaTimeoutMs } = this.options
    const deadline = clock.monotonic() + replicaTimeoutMs
    for (;;) {
      try {
        const why = await object.whyLost(this.epoch)
        if (why !== null) this.#lose(why)
        break
      } catch (error) {
        if (error instanceof StartError) this.#lose(error.message)
        if (this.#state === 'lost' || clock.monotonic() >= deadline) throw error
        await sleep(clock, RETRY_CHECK_MS)
      }
    }
    if (this.#state === 'lost') throw new Error('the lease is lost')
    this.#storedAt = clock.monotonic()
    if (this.#state !== 'free') return
    this.options.log.warn({}, 'commits are being stored again: the lease is taken back')
    this.#want('held')
  }

  /** Lets a standby take over immediately. Call it when everything is stored. Errors: the storage does not answer. */
  async release(): Promise<void> {
    if (!this.isHeld) return
    this.#failure = null
    this.#want('released')
    await this.#released.promise
    if (this.#failure !== null) throw new Error(this.#failure)
  }

  #planWish(): void {
    this.options.clock.after(RENEW_LEASE_EVERY_MS, () => {
      this.#sayAgain()
      if (this.isHeld) this.#planWish()
    })
  }

  #sayAgain(): void {
    if (this.#state === 'held' || this.#state === 'free') this.#want(this.#state)
  }

  #want(state: Wish['state']): void {
    this.#state = state
    this.#tell(this.#wish(state))
  }

  #wish(state: Wish['state']): Wish {
    const { clock } = this.options
    const saidAt = { monotonic: clock.monotonic(), now: clock.now() }
    return { content: this.#content, state, saidAt, patienceMs: this.#patienceMs }
  }

  #hear(notice: Notice): void {
    if ('written' in notice) this.options.object.noteWritten(notice.written)
    if (notice.type === 'lost') this.#lose(notice.why)
    if (notice.type === 'lost' || notice.type === 'released') this.#released.resolve()
    else if (notice.type === 'renewed') this.#noteRenewal(notice.at)
    else if (notice.type === 'failing') this.#noteFailure(notice.reason)
  }

  #noteRenewal(at: Moment): void {
    if (this.#failure !== null) this.options.log.warn({}, 'the lease is renewed again')
    this.#failure = null
    this.#renewed = at
    if (this.#state !== 'held' || this.ageMs() >= LEASE_MS) return
    this.#nextRenewal.resolve()
    this.#nextRenewal = Promise.withResolvers()
  }

  #noteFailure(reason: string): void {
    if (this.#failure === null && this.#state === 'held')
      this.options.log.error({ reason }, 'the lease cannot be renewed: nothing is sent until it is')
    this.#failure = reason
  }

  #lose(why: string): void {
    if (!this.isHeld) return
    this.#state = 'lost'
    this.options.lost(why)
  }
}
