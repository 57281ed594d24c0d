import { type Clock, sleep } from '../../core/clock.ts'
import type { Lease, Standbys } from '../../core/lease.ts'
import { LEASE_MS, RENEW_LEASE_EVERY_MS } from '../../core/limits.ts'
import type { Log } from '../../core/log.ts'
import { StartError } from '../../core/start-error.ts'
import type { BackupSettings } from '../backup/settings.ts'
import { checkStore } from './doctor-lease.ts'
import { checkEpoch } from './epoch-check.ts'
import type { LeaseContent, LeaseObject } from './lease-object.ts'
import { describeClock } from './object-store.ts'
import { Renewal, type Renewed } from './renewal.ts'

export interface HeldLeaseOptions {
  object: LeaseObject
  content: Omit<LeaseContent, 'nonce'>
  etag: string
  /** Monotonic time at which the write began that took it. */
  takenAt: number
  clock: Clock
  log: Log
  /** How long a check may take. */
  checkTimeoutMs: number
  /** Called once, when somebody else holds the lease. The process must end without telling anybody anything more. */
  lost(why: string): void
  give(): void
}

const RETRY_CHECK_MS = 50

/** The lease that this process holds: renews it every second until it is released or lost. */
export class HeldLease implements Lease {
  readonly epoch: number
  readonly holder: string
  #content: HeldLeaseOptions['content']
  #etag: string
  /** Monotonic and wall-clock time of the start of the last renewal. A machine that sleeps may stop either clock. */
  #renewed: { monotonic: number; now: number }
  readonly #waiting: (() => void)[] = []
  /** `suspended`: this process can store nothing, so a standby may have the lease. */
  #state: 'held' | 'suspended' | 'released' | 'lost' = 'held'
  #storedAt: number
  #isFailing = false
  #cancel: () => void = () => undefined
  #renewing: Promise<void> | null = null
  #standbys: Standbys | null = null
  /** Renews the lease in the place of this object; null if this object does. */
  #thread: Renewal | null = null

  constructor(readonly options: HeldLeaseOptions) {
    const { content, etag, takenAt, clock } = options
    this.epoch = content.epoch
    this.holder = content.holder
    this.#content = content
    this.#etag = etag
    this.#storedAt = takenAt
    this.#renewed = { monotonic: takenAt, now: clock.now() - (clock.monotonic() - takenAt) }
    this.#plan()
  }

  granted(): Promise<void> | undefined {
    if (this.#state === 'held' && this.ageMs() < LEASE_MS) return undefined
    return new Promise((resolve) => this.#waiting.push(resolve))
  }

  ageMs(): number {
    const { clock } = this.options
    return Math.max(clock.monotonic() - this.#renewed.monotonic, clock.now() - this.#renewed.now)
  }

  get isHeld(): boolean {
    return this.#state === 'held' || this.#state === 'suspended'
  }

  /** Milliseconds since a commit of this process was known to be stored under the lease. */
  unstoredMs(): number {
    return this.options.clock.monotonic() - this.#storedAt
  }

  /** Lets a standby take over, because this process can store nothing. The next commit that is stored takes the lease back, if nobody has it. */
  async suspend(): Promise<void> {
    if (this.#state !== 'held' || this.#thread !== null) return
    this.#state = 'suspended'
    await this.#renewing
    const { object, log } = this.options
    log.error({}, 'nothing can be stored: the lease is released until it can')
    // A storage that fails for all gets no answer, and then nobody takes the lease.
    const etag = await object.write({ ...this.#content, holder: '' }, this.#etag).catch(() => this.#etag)
    if (etag === null) return this.#loseIf(await checkEpoch(object, this.epoch))
    this.#etag = etag
  }

  standbys = (): Standbys | null => this.#standbys

  testStorage = (): Promise<string> => checkStore(this.options.object.store)

  clockFault = (): string | null => describeClock(this.options.object.store)

  noteStandbys(standbys: Standbys): void {
    this.#standbys = standbys
  }

  /** Call it when the own epoch has its first copy: from now on no later holder takes an older one. */
  noteCopy(): void {
    this.#content = { ...this.#content, copied: this.epoch }
    this.#thread?.update(this.#content)
  }

  /** The storage has a copy of a later epoch. */
  overtaken(epoch: number): void {
    this.#lose(`epoch ${epoch} has begun`)
  }

  give(): void {
    this.options.give()
  }

  /** Renews in a thread from now on, until `renewHere`: the start may hold the event loop for longer than a lease lasts. */
  renewInThread(settings: BackupSettings): void {
    const { object } = this.options
    this.#cancel()
    const from = { writer: object.writer, written: object.written, etag: this.#etag }
    this.#thread = new Renewal(settings, this.#content, from, (renewed) => this.#renewedBy(renewed))
  }

  renewHere(): Promise<void> {
    this.#renewing ??= this.#takeBack().finally(() => this.#plan())
    return this.#renewing
  }

  /** Call after an upload: resolves if the lease was still this process's then. Errors: the storage does not answer in time, or it is lost. */
  async check(): Promise<void> {
    const { clock, object, checkTimeoutMs } = this.options
    const deadline = clock.monotonic() + checkTimeoutMs
    for (;;) {
      try {
        this.#loseIf(await checkEpoch(object, this.epoch))
        this.#storedAt = clock.monotonic()
        if (this.#state === 'suspended') await this.#resume()
        break
      } catch (error) {
        if (error instanceof StartError) this.#lose(error.message)
        if (this.#state === 'lost' || clock.monotonic() >= deadline) throw error
        await sleep(clock, RETRY_CHECK_MS)
      }
    }
    if (this.#state === 'lost') throw new Error('the lease is lost')
  }

  /** Lets a standby take over at once. Call it when everything is stored. */
  async release(): Promise<void> {
    if (!this.isHeld) return
    this.#stop('released')
    await this.#renewing
    await this.#endThread()
    await this.options.object.write({ ...this.#content, holder: '' }, this.#etag)
  }

  #plan(): void {
    if (!this.isHeld || this.#thread !== null) return
    this.#cancel = this.options.clock.after(RENEW_LEASE_EVERY_MS, () => {
      this.#renewing = this.#renew().finally(() => this.#plan())
    })
  }

  async #resume(): Promise<void> {
    this.#state = 'held'
    this.options.log.warn({}, 'what is committed is stored again: the lease is taken back')
    await this.#renew()
  }

  async #takeBack(): Promise<void> {
    await this.#endThread()
    await this.#renew()
  }

  async #endThread(): Promise<void> {
    if (this.#thread === null) return
    this.#renewedBy(await this.#thread.stop())
    this.#thread = null
  }

  async #renew(): Promise<void> {
    if (this.#state === 'suspended')
      return this.#loseIf(await checkEpoch(this.options.object, this.epoch).catch(() => null))
    if (this.#state !== 'held') return
    const { clock, object, log } = this.options
    const started = { monotonic: clock.monotonic(), now: clock.now() }
    try {
      const etag = await object.write(this.#content, this.#etag)
      if (etag === null) return this.#loseIf(await checkEpoch(object, this.epoch))
      this.#noteRenewal(etag, started)
      if (this.#isFailing) log.warn({}, 'the lease is renewed again')
      this.#isFailing = false
    } catch (error) {
      if (error instanceof StartError) return this.#lose(error.message)
      if (!this.#isFailing)
        log.error({ reason: reasonOf(error) }, 'the lease cannot be renewed: nothing is sent until it is')
      this.#isFailing = true
    }
  }

  /** The message of the thread may have waited until the event loop was free. */
  #renewedBy({ etag, written, startedAt }: Renewed): void {
    const { clock, object } = this.options
    object.noteWritten(written)
    const agoMs = Math.max(0, clock.now() - startedAt)
    this.#noteRenewal(etag, { monotonic: clock.monotonic() - agoMs, now: startedAt })
  }

  #noteRenewal(etag: string, startedAt: { monotonic: number; now: number }): void {
    this.#etag = etag
    if (startedAt.monotonic < this.#renewed.monotonic) return
    this.#renewed = startedAt
    if (this.ageMs() < LEASE_MS) for (const resolve of this.#waiting.splice(0)) resolve()
  }

  #loseIf(why: string | null): void {
    if (why !== null) this.#lose(why)
  }

  #lose(why: string): void {
    if (!this.isHeld) return
    this.#stop('lost')
    this.options.lost(why)
  }

  #stop(state: 'released' | 'lost'): void {
    this.#state = state
    this.#cancel()
  }
}

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
