import { Limiter, type Slot } from '../../core/limiter.ts'
import { MAX_SILENT_BACK_FILLS, SILENT_BACK_FILL_EVERY_MS } from '../../core/limits.ts'
import { sha256Hex } from '../../core/secrets.ts'
import type { Topic } from '../../db/schema/connections.ts'
import type { ExtensionRow } from '../../provider/directory.ts'
import { type ExtensionKey, nameOf } from '../../provider/extension-rows.ts'
import type { QuotaGroup } from '../../provider/quota.ts'
import { hasLiveSubscription } from '../../provider/subscription-rows.ts'
import type { Gateway } from '../gateway.ts'
import { backFill } from '../inbound/back-fill.ts'
import type { Timers } from '../jobs/timers.ts'

interface Silent {
  /** Consecutive back-fills that could not list the messages. */
  failures: number
  /** Turns to skip after these. */
  skips: number
  /** Whether the provider was unreachable at the last one. */
  wasAway: boolean
}

const MAX_SKIPS = 14

const OF_MESSAGES: SilentContext = { topic: 'messages', fill: backFill, group: 'back_fill' }

interface SilentContext {
  /** The topic of the missing subscription. */
  topic: Topic
  /** Null if nothing could be listed. */
  fill(gateway: Gateway, row: ExtensionRow): Promise<number | null>
  /** The group of its calls. */
  group: QuotaGroup
}

/**
 * Back-fills each extension without a live subscription once a minute, because nothing else brings its messages. Each extension has
 * its own second of the minute. There is no timer for an extension that receives.
 */
export class SilentExtensions {
  readonly #silent = new Map<string, Silent>()
  readonly #slots = new Limiter({ total: MAX_SILENT_BACK_FILLS, perTenant: MAX_SILENT_BACK_FILLS })

  constructor(
    readonly gateway: Gateway,
    readonly timers: Pick<Timers, 'once' | 'cancel'>,
    readonly context: SilentContext = OF_MESSAGES,
  ) {}

  /** Call it after each run that checks the subscription. `isActive`: the provider has an Active one. */
  note(key: ExtensionKey, isActive: boolean): void {
    const name = nameOf(key)
    if (isActive) return this.#forget(key)
    if (this.#silent.has(name)) return
    this.#silent.set(name, { failures: 0, skips: 0, wasAway: false })
    this.#plan(key)
  }

  #forget(key: ExtensionKey): void {
    this.#silent.delete(nameOf(key))
    this.timers.cancel(this.#timerOf(key))
  }

  #plan(key: ExtensionKey): void {
    if (!this.#silent.has(nameOf(key))) return
    const ms = msToTurn(nameOf(key), this.gateway.clock.monotonic())
    this.timers.once(this.#timerOf(key), ms, () => this.#takeTurn(key))
  }

  #timerOf(key: ExtensionKey): string {
    return `back-fill of ${this.context.topic} of ${nameOf(key)}`
  }

  async #takeTurn(key: ExtensionKey): Promise<void> {
    try {
      const row = await this.gateway.directory.extension(key.tenantId, key.extensionId)
      // Nothing can be listed without tokens. The run after they are back adds the extension again.
      if (row?.status !== 'active') this.#forget(key)
      else if (await this.#isDue(row)) await this.#inSlot(row)
    } finally {
      this.#plan(key)
    }
  }

  /** A subscription that could not be checked or renewed may be live for days. */
  async #isDue(row: ExtensionRow): Promise<boolean> {
    const { directory, quota, database, clock } = this.gateway
    if ((await directory.tenant(row.tenantId)).status !== 'active') return false
    if (this.#isSkipped(row) || quota.pauseMs(row.extensionId, this.context.group) > 0) return false
    return !(await hasLiveSubscription(database.orm, { ...row, topic: this.context.topic }, clock.now()))
  }

  /** Ends the skipping when the provider is back: after an outage, a message must not wait for a pause that only counted failures. */
  #isSkipped(row: ExtensionRow): boolean {
    const silent = this.#silent.get(nameOf(row))
    if (silent === undefined) return true
    if (silent.skips === 0 || (silent.wasAway && this.gateway.providerState.silentSince === null)) return false
    silent.skips--
    return true
  }

  async #inSlot(row: ExtensionRow): Promise<void> {
    const slot = await new Promise<Slot>((granted) => void this.#slots.request(row.tenantId, [], granted))
    try {
      if (!this.gateway.lifecycle.draining) await this.#fill(row)
    } finally {
      slot.release()
    }
  }

  async #fill(row: ExtensionRow): Promise<void> {
    const isListed = (await this.context.fill(this.gateway, row)) !== null
    const silent = this.#silent.get(nameOf(row))
    if (silent === undefined) return
    silent.failures = isListed ? 0 : silent.failures + 1
    silent.skips = isListed ? 0 : Math.min(2 ** (silent.failures - 1) - 1, MAX_SKIPS)
    silent.wasAway = this.gateway.providerState.silentSince !== null
  }
}

/** A timer may fire a little early. Without this margin, the same turn would come again. */
const MIN_DISTANCE_MS = 1000

/** Milliseconds until the extension's next turn, which is always at the same second of the minute. */
function msToTurn(name: string, now: number): number {
  const point = Number.parseInt(sha256Hex(name).slice(0, 8), 16) % SILENT_BACK_FILL_EVERY_MS
  const sinceTurn = (now + MIN_DISTANCE_MS - point) % SILENT_BACK_FILL_EVERY_MS
  return MIN_DISTANCE_MS + ((SILENT_BACK_FILL_EVERY_MS - sinceTurn) % SILENT_BACK_FILL_EVERY_MS)
}
