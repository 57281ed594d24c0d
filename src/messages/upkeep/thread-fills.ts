import { SEND_GROUP } from '../../provider/quota.ts'
import { type ExtensionKey, nameOf } from '../../provider/extension-rows.ts'
import type { Gateway } from '../gateway.ts'
import { CALLS, FIRST_CALLS, fillThreads, hasRoom } from '../inbound/fill-threads.ts'
import type { Timers } from '../jobs/timers.ts'

/** Events come in bursts, and each call counts for the limit of sends. */
const MIN_DISTANCE_MS = 5000
const RETRY_MS = 30_000
/** While sends use the extension's whole window, a reading takes slots from it no more often than this. */
const FULL_DISTANCE_MS = 60_000
const LOOK_AGAIN_MS = 1000

/** Reads message threads soon after an event has reported news. If the process dies first, the next back-fill makes up for it. */
export class ThreadFills {
  /** Monotonic time of the first event that no reading has followed yet. */
  readonly #woken = new Map<string, number>()
  /** When the last reading began. */
  readonly #read = new Map<string, number>()
  /** The extensions whose window has already counted the next reading, so that sends leave room for it. */
  readonly #reserved = new Set<string>()

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
    if (this.#mustWait(key)) return this.#plan(key, LOOK_AGAIN_MS)
    // Later messages may not be in this reading.
    this.#woken.delete(name)
    this.#reserved.delete(name)
    this.#read.set(name, now)
    const row = await directory.extension(key.tenantId, key.extensionId)
    if (
      row?.status !== 'active' ||
      (await fillThreads(this.gateway, row, { hasReserved: true })) !== null ||
      this.#woken.has(name)
    )
      return
    this.#woken.set(name, clock.monotonic())
    this.#plan(key, RETRY_MS)
  }

  /** Waits for room in the extension's window: reserved room if a reading is due, otherwise what sends leave. */
  #mustWait(key: ExtensionKey): boolean {
    const { quota, clock } = this.gateway
    const { extensionId } = key
    if (quota.pauseMs(extensionId, SEND_GROUP) > 0) return true
    const { used, limit } = quota.extensionUse(extensionId)
    if (this.#reserved.has(nameOf(key))) return used > limit
    const readAt = this.#read.get(nameOf(key))
    // The first reading of a process may have no token.
    const calls = readAt === undefined ? FIRST_CALLS : CALLS
    if (hasRoom(this.gateway, key, calls)) return false
    if (clock.monotonic() - (readAt ?? -Infinity) < FULL_DISTANCE_MS) return true
    quota.count(extensionId, calls)
    this.#reserved.add(nameOf(key))
    return true
  }
}
