import { atMost } from '../core/at-most.ts'
import type { Clock } from '../core/clock.ts'
import type { Ids } from '../core/ids.ts'
import { TOKEN_FRESH_MS } from '../core/limits.ts'
import type { Log } from '../core/log.ts'
import type { Orm } from '../db/orm.ts'
import type { ExtensionRow } from './directory.ts'
import { type EventSocket, NO_CLOSING_FRAME, type SocketEnd } from './event-socket.ts'
import { type ExtensionKey, nameOf } from './extension-rows.ts'
import { HeldSocket } from './held-socket.ts'
import { OverlookedEvents } from './overlooked-events.ts'
import type { Ensured, InboundSubscriptions } from './inbound-subscriptions.ts'
import type { ProviderFailure } from './provider.ts'
import { type Outcome, Reopening } from './reopening.ts'
import { deleteWebhooks } from './replaced-webhooks.ts'
import { SocketEvents } from './socket-events.ts'
import { type OpenerContext, SocketOpener } from './socket-opener.ts'
import { ofTopic } from './subscription-rows.ts'
import { markAllClosed, markClosed, markOpen, markOpening } from './socket-rows.ts'

export interface SocketSubscriptionsContext extends OpenerContext {
  orm: Orm
  ids: Ids
  clock: Clock
  log: Log
  /** Null if it is not connected, or if its tenant is being disconnected. */
  connected(key: ExtensionKey): Promise<ExtensionRow | null>
  /** Called after the commit that deleted rows. */
  changed(): void
}

/** A token that expires sooner is refreshed. Without a refresh token this opens a new session, and the socket moves there before its own ends. */
const BEFORE_EXPIRY_MS = TOKEN_FRESH_MS - 10_000
const MIN_CHECK_MS = 30_000
/** For an opening in progress. One that waits for its turn, or hangs, closes its socket if it is no longer wanted. */
const REMOVE_WAIT_MS = 5000

/**
 * Events over sockets that the gateway opens, for gateways that the provider cannot reach: one socket per extension, because RingCentral sends
 * message events only to their own extension (SUB-405). Frames are not acknowledged, so after each opening `ensure` returns `created`, and a
 * back-fill finds missed messages.
 */
export class SocketSubscriptions implements InboundSubscriptions {
  planned: InboundSubscriptions['planned'] = () => undefined
  readonly advice = {
    needs: 'this machine must be able to open wss:// connections to the provider',
    byItself: 'the gateway reopens a closed one',
  }
  readonly #events: SocketEvents
  readonly #held = new Map<string, HeldSocket>()
  readonly #ensuring = new Map<string, Promise<Ensured>>()
  readonly #overlooked: OverlookedEvents
  readonly #opener: SocketOpener
  readonly #stopping = new AbortController()
  readonly #reopening: Reopening

  constructor(readonly context: SocketSubscriptionsContext) {
    this.#reopening = new Reopening(context.clock)
    this.#overlooked = new OverlookedEvents(context.clock)
    this.#opener = new SocketOpener(context)
    // The provider does not send it again. A back-fill follows the next socket.
    const notStored = (key: ExtensionKey): void =>
      this.#ended(key, { code: NO_CLOSING_FRAME, reason: 'not stored' }, this.#held.get(nameOf(key)) ?? null)
    this.#events = new SocketEvents({ ...context, notStored })
  }

  set receive(receive: InboundSubscriptions['receive']) {
    this.#events.receive = receive
  }

  ensure(key: ExtensionKey): Promise<Ensured> {
    const name = nameOf(key)
    const running = this.#ensuring.get(name)
    if (running !== undefined) return running
    const { tenantId, extensionId } = key
    const run = this.#ensure({ tenantId, extensionId }).finally(() => this.#ensuring.delete(name))
    this.#ensuring.set(name, run)
    return run
  }

  refusal(key: ExtensionKey): ProviderFailure | null {
    return this.#reopening.failure(nameOf(key))
  }

  async remove(key: ExtensionKey): Promise<void> {
    await atMost(REMOVE_WAIT_MS, Promise.allSettled([this.#ensuring.get(nameOf(key))]))
    this.#letGo(key)
    this.#reopening.forget(nameOf(key))
  }

  overlooked(key: ExtensionKey): void {
    const name = nameOf(key)
    if (this.#overlooked.isTelling(name, this.#held.get(name)?.ageMs ?? 0)) this.#replace(key, 'overlooked')
  }

  sessionChanged(key: ExtensionKey): void {
    this.#replace(key, 'session')
  }

  usesReplacedSession(row: ExtensionRow): boolean {
    const held = this.#held.get(nameOf(row))
    return held !== undefined && held.connectedAt !== row.connectedAt
  }

  async recover(): Promise<void> {
    await markAllClosed(this.context.orm, this.context.clock.now())
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    for (const held of this.#held.values()) held.close()
    this.#held.clear()
    await this.#events.stored()
  }

  /** The old socket stays until the next one is open. */
  #replace(key: ExtensionKey, why: string): void {
    const held = this.#held.get(nameOf(key))
    if (held === undefined || held.isStale) return
    held.isStale = true
    const { tenantId, extensionId } = key
    this.context.log.info({ tenantId, extensionId, why }, 'event socket is being replaced')
    this.planned(key, 0, true)
  }

  async #ensure(key: ExtensionKey): Promise<Ensured> {
    try {
      return await this.#ensureNow(key)
    } catch (error) {
      this.#retry(key)
      throw error
    }
  }

  async #ensureNow(key: ExtensionKey): Promise<Ensured> {
    if ((await this.#connected(key)) === null) return 'failed'
    await this.context.extensionCalls.tokens.access(key)
    const row = await this.#connected(key)
    if (row === null) return 'failed'
    const held = this.#held.get(nameOf(key))
    // Its session may have changed during the call.
    if (held !== undefined && (await this.#isGood(key, held, row)) && !held.isStale) {
      await deleteWebhooks(this.context, ofTopic(key, this.context.topic))
      this.#planCheck(key, row)
      return 'kept'
    }
    if (!this.#held.has(nameOf(key))) await markOpening(this.context, ofTopic(key, this.context.topic))
    const { ensured, nextMs } = await this.#open(key, row)
    if (ensured === 'created') await deleteWebhooks(this.context, ofTopic(key, this.context.topic))
    const isKept = ensured !== 'created' && held !== undefined && (await this.#keepStale(key, held))
    if (nextMs !== null) this.#plan(key, nextMs)
    return isKept && ensured === 'waiting' ? 'kept' : ensured
  }

  /** A socket that is to be replaced stays until the next one is open, but only while it brings events. Returns whether it certainly does. */
  async #keepStale(key: ExtensionKey, held: HeldSocket): Promise<boolean> {
    const isSubscribed = await held.socket.isSubscribed()
    const row = await this.#connected(key)
    if (isSubscribed === true || row === null || this.#held.get(nameOf(key)) !== held) return isSubscribed === true
    // If the provider does not answer: a session may have ended before a newer authorization replaced it.
    if (isSubscribed === null && held.connectedAt === row.connectedAt) return false
    this.#letGo(key, { code: NO_CLOSING_FRAME, reason: 'no subscription' })
    await markOpening(this.context, ofTopic(key, this.context.topic))
    return false
  }

  #connected(key: ExtensionKey): Promise<ExtensionRow | null> {
    return this.#stopping.signal.aborted ? Promise.resolve(null) : this.context.connected(key)
  }

  async #isGood(key: ExtensionKey, held: HeldSocket, { connectedAt }: ExtensionRow): Promise<boolean> {
    // A newer authorization has ended the session that opened it.
    if (held.connectedAt !== connectedAt) held.isStale = true
    if (held.isStale) return false
    const isSubscribed = await held.socket.isSubscribed()
    const isHeld = this.#held.get(nameOf(key)) === held
    if (isSubscribed === false && isHeld) this.#letGo(key, { code: NO_CLOSING_FRAME, reason: 'no subscription' })
    return isSubscribed !== false && isHeld
  }

  async #open(key: ExtensionKey, { connectedAt }: ExtensionRow): Promise<Outcome> {
    let held: HeldSocket | null = null
    const end = Promise.withResolvers<SocketEnd>()
    const request = {
      recovery: this.#reopening.recovery(nameOf(key)),
      frame: (): void => held?.heard(),
      event: (body: unknown): void => this.#events.store(key, body),
      ended: end.resolve,
      signal: this.#stopping.signal,
    }
    const opened = await this.#opener.open(key, request, async () => (await this.#connected(key)) !== null)
    if (opened.type !== 'ok') return this.#reopening.outcome(nameOf(key), opened)
    held = await this.#hold(key, connectedAt, opened.value)
    if (held === null) return { ensured: 'failed', nextMs: null }
    void end.promise.then((why) => this.#ended(key, why, held))
    return { ensured: 'created', nextMs: null }
  }

  /** Null if the gateway stops. */
  async #hold(key: ExtensionKey, connectedAt: number, socket: EventSocket): Promise<HeldSocket | null> {
    const { clock, orm, log } = this.context
    const name = nameOf(key)
    await markOpen(orm, ofTopic(key, this.context.topic), socket, clock.now()).catch((error: unknown) => {
      socket.close()
      throw error
    })
    const row = await this.#connected(key)
    if (row === null) {
      socket.close()
      return null
    }
    this.#held.get(name)?.close()
    const dead = (): void => this.#ended(key, { code: NO_CLOSING_FRAME, reason: 'silent' }, held)
    const held = new HeldSocket(socket, connectedAt, { name, clock, dead })
    this.#held.set(name, held)
    this.#reopening.opened(name)
    log.info({ ...key, recovered: socket.recovered }, 'event socket is open')
    this.#planCheck(key, row)
    if (row.connectedAt !== connectedAt) this.#replace(key, 'session')
    return held
  }

  #ended(key: ExtensionKey, why: SocketEnd, held: HeldSocket | null): void {
    const name = nameOf(key)
    if (held === null || this.#held.get(name) !== held) return
    this.#reopening.ended(name, held.ageMs, held.socket.recovery())
    this.#letGo(key, why)
    // Before the next opening, because its row must not be marked.
    markClosed(this.context.orm, ofTopic(key, this.context.topic), this.context.clock.now()).catch(() => undefined)
    this.#retry(key)
  }

  #retry(key: ExtensionKey): void {
    this.#plan(key, this.#reopening.delayMs(nameOf(key), null))
  }

  #planCheck(key: ExtensionKey, { accessExpiresAt }: ExtensionRow): void {
    this.#plan(key, Math.max(MIN_CHECK_MS, accessExpiresAt - BEFORE_EXPIRY_MS - this.context.clock.now()))
  }

  #plan(key: ExtensionKey, ms: number): void {
    if (!this.#stopping.signal.aborted) this.planned(key, ms, this.#held.has(nameOf(key)))
  }

  #letGo(key: ExtensionKey, why?: SocketEnd): void {
    this.#held.get(nameOf(key))?.close()
    this.#held.delete(nameOf(key))
    if (why !== undefined) this.context.log.info({ ...key, ...why }, 'event socket has closed')
  }
}
