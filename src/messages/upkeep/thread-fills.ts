import { SEND_GROUP } from '../../provider/quota.ts'
import { type ExtensionKey, nameOf } from '../../provider/extension-rows.ts'
import type { Gateway } from '../gateway.ts'
import { fillThreads } from '../inbound/fill-threads.ts'
import type { Timers } from '../jobs/timers.ts'

/** Events come in bursts, and each call counts for the limit of sends. */
const MIN_DISTANCE_MS = 5000
const RETRY_MS = 30_000
/** Sends go first, but not for ever: after this time a text is read although the window of the extension is full. */
const MAX_WAIT_MS = 60_000

/** Reads message threads soon after an event has said that something has come. An event that no process lives to follow is made up for by the next back-fill. */
export class ThreadFills {
  /** When the first event came that no reading has followed yet, monotonic. */
  readonly #woken = new Map<string, number>()
  /** When the last reading began. */
  readonly #read = new Map<string, number>()

  constructor(
    readonly gateway: Gateway,
    readonly timers: Pick<Timers, 'once'>,
  ) {}

  wake({ tenantId, extensionId }: ExtensionKey): void {
    const key = { tenantId, extensionId }
    const name = nameOf(key)
    if (this.#woken.has(name)) return
    const now = this.gateway.clock.monotonic()
    this.#woken.set(name, now)
    this.#plan(key, Math.max(0, (this.#read.get(name) ?? -Infinity) + MIN_DISTANCE_MS - now))
  }

  #plan(key: ExtensionKey, ms: number): void {
    this.timers.once(`threads of ${nameOf(key)}`, ms, () => this.#run(key))
  }

  async #run(key: ExtensionKey): Promise<void> {
    const { directory, clock } = this.gateway
    const name = nameOf(key)
    const now = clock.monotonic()
    if (this.#leavesRoom(key, now - (this.#woken.get(name) ?? now))) return this.#plan(key, MIN_DISTANCE_MS)
    // What comes from now on may not be in this reading.
    this.#woken.delete(name)
    this.#read.set(name, now)
    const row = await directory.extension(key.tenantId, key.extensionId)
    if (row?.status !== 'active' || (await fillThreads(this.gateway, row)) !== null || this.#woken.has(name)) return
    this.#woken.set(name, clock.monotonic())
    this.#plan(key, RETRY_MS)
  }

  /** Whether sends need what is left of the extension's window, or the provider lets nobody call. */
  #leavesRoom({ extensionId }: ExtensionKey, waitedMs: number): boolean {
    const { quota } = this.gateway
    if (quota.pauseMs(extensionId, SEND_GROUP) > 0) return true
    return waitedMs < MAX_WAIT_MS && quota.extensionWaitMs(extensionId) > 0
  }
}
