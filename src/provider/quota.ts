import type { Clock } from '../core/clock.ts'
import {
  AUTH_CALLS_KEPT_FOR_TOKENS,
  AUTH_CALLS_PER_MINUTE,
  DEFAULT_PENALTY_MS,
  MIN_ANNOUNCED_PAUSE_MS,
  WINDOW_MS,
} from '../core/limits.ts'
import { SlidingWindow } from '../core/sliding-window.ts'
import type { ProviderFailure } from './provider.ts'

/**
 * The provider's rate-limit groups of the gateway's calls (RingCentral: "API rate limits"). `media` and `threads` are parts of `medium`,
 * `back_fill` and `consents` of `light`: a refusal pauses only them, so that they never delay sends, lookups and polls. `auth`: tokens, JWTs
 * and the tickets of event sockets.
 */
export type QuotaGroup = 'light' | 'medium' | 'media' | 'threads' | 'back_fill' | 'consents' | 'auth'

/** The group whose calls send messages. */
export const SEND_GROUP: QuotaGroup = 'medium'

interface Limits {
  fromPerMinute: number
  /** May change at any time. */
  extensionPerMinute: () => number
}

/** Stands for the time of an unfinished call, which stays in the window. */
const UNDER_WAY = Infinity

interface Pause {
  /** Epoch milliseconds; null if it began in an earlier process. */
  began: number | null
  /** Monotonic time. */
  until: number
  /** Whether a following pause is the same trouble: no call has had another answer since it began. */
  goesOn: boolean
}

type StandingPause = Readonly<Record<'since' | 'lastedMs', number>>

/** Pauses further apart than this are separate: no call was made in between. */
const MAX_GAP_MS = 15 * 60_000

const PRUNE_ABOVE = 10_000

/**
 * How much may still be sent: a rate window for each `from` number, one for each extension, and the pauses that the provider requested. The
 * numbers of an extension share its window with its subscription calls. All times are monotonic. At the start the windows are seeded with the
 * attempts of the last minute, so that a restart does not empty them.
 */
export class Quota {
  readonly #from = new Map<string, SlidingWindow>()
  readonly #extension = new Map<string, SlidingWindow>()
  readonly #auth = new Map<string, SlidingWindow>()
  readonly #pauses = new Map<string, Pause>()
  /** By group and extension: how many consecutive announced pauses were too short to count. */
  readonly #tooShort = new Map<string, number>()

  constructor(
    readonly clock: Clock,
    readonly limits: Limits,
  ) {}

  /** Milliseconds until the number's window has room; 0 when it has. */
  numberWaitMs(from: string): number {
    return this.#waitMs(this.#from, from, this.limits.fromPerMinute)
  }

  /** Milliseconds until the extension may send: its window has room and no pause is left. */
  extensionWaitMs(extensionId: string): number {
    const waitMs = this.#waitMs(this.#extension, extensionId, this.limits.extensionPerMinute())
    return Math.max(this.pauseMs(extensionId, SEND_GROUP), waitMs)
  }

  waitMs(from: string, extensionId: string): number {
    return Math.max(this.numberWaitMs(from), this.extensionWaitMs(extensionId))
  }

  /** Takes one slot in both windows, which is kept until `callReturned` or `giveBack`, however long the process is suspended. */
  take(from: string, extensionId: string): void {
    this.#windowOf(this.#from, from).add(UNDER_WAY)
    this.#windowOf(this.#extension, extensionId).add(UNDER_WAY)
  }

  /**
   * Keeps the slot for a minute from now. The provider may have counted the call at any time before it returned. Without this, a later but
   * faster call could arrive while the provider's own window is still full. The slot is kept even if the result says that no call was made,
   * because an earlier attempt of the same call may have been answered 401.
   */
  callReturned(from: string, extensionId: string): void {
    const now = this.clock.monotonic()
    this.#from.get(from)?.move(UNDER_WAY, now)
    this.#extension.get(extensionId)?.move(UNDER_WAY, now)
  }

  /** Returns a slot that was taken for a call that was never made. */
  giveBack(from: string, extensionId: string): void {
    this.#from.get(from)?.remove(UNDER_WAY)
    this.#extension.get(extensionId)?.remove(UNDER_WAY)
  }

  /** Counts calls other than sends in the extension's window. */
  count(extensionId: string, calls = 1): void {
    for (let left = calls; left > 0; left--) this.#windowOf(this.#extension, extensionId).add(this.clock.monotonic())
  }

  /**
   * Milliseconds until a call of the group `auth` may be made. Without tokens nothing works, so they wait only for a pause. Tickets of event
   * sockets leave them some of each minute's calls.
   */
  authWaitMs(extensionId: string, use: 'tokens' | 'ticket'): number {
    const pauseMs = this.pauseMs(extensionId, 'auth')
    if (use === 'tokens') return pauseMs
    const perMinute = AUTH_CALLS_PER_MINUTE - AUTH_CALLS_KEPT_FOR_TOKENS
    return Math.max(pauseMs, this.#waitMs(this.#auth, extensionId, perMinute))
  }

  /** Counts a call of the group `auth`. */
  countAuth(extensionId: string): void {
    this.#windowOf(this.#auth, extensionId).add(this.clock.monotonic())
  }

  /**
   * Pauses as a refusal announced: for a minute if it announced nothing. Pauses below a second become 1 s, 2 s, 4 s … a minute, until
   * `answered`. Refusals of simultaneous calls count once. Returns the milliseconds of the pause.
   */
  pauseAsAnnounced(extensionId: string, group: QuotaGroup, announcedMs: number | null): number {
    const ms = isTooShort(announcedMs) ? this.#nextShortMs(extensionId, group) : (announcedMs ?? DEFAULT_PENALTY_MS)
    this.pause(extensionId, group, ms)
    return ms
  }

  /** Call it after any answer except one that `asksForNoPause`. */
  answered(extensionId: string, group: QuotaGroup): void {
    if (this.#tooShort.size === 0) return
    this.#tooShort.delete(nameOf(extensionId, group))
  }

  #nextShortMs(extensionId: string, group: QuotaGroup): number {
    const leftMs = this.pauseMs(extensionId, group)
    if (leftMs > 0) return Math.ceil(leftMs)
    const name = nameOf(extensionId, group)
    const count = this.#tooShort.get(name) ?? 0
    this.#tooShort.set(name, count + 1)
    return Math.min(MIN_ANNOUNCED_PAUSE_MS * 2 ** count, DEFAULT_PENALTY_MS)
  }

  /**
   * Allows no request of this group for this extension for `ms`. Extends a current pause to at least `ms`. A pause that follows another without
   * an answer in between began with that one.
   */
  pause(extensionId: string, group: QuotaGroup, ms: number, began: number | null = this.clock.now()): void {
    const now = this.clock.monotonic()
    const until = now + ms
    const last = this.#pauses.get(nameOf(extensionId, group))
    const goesOn = last !== undefined && (last.until > now || (last.goesOn && now - last.until < MAX_GAP_MS))
    const pause = goesOn ? { began: last.began ?? began, until: Math.max(until, last.until) } : { began, until }
    this.#pauses.set(nameOf(extensionId, group), { ...pause, goesOn: true })
  }

  /** Call it after an answer that neither requests a pause nor shows that the provider is unavailable. A current pause lasts as announced. */
  tookCall(extensionId: string, group: QuotaGroup): void {
    if (this.#pauses.size === 0) return
    const pause = this.#pauses.get(nameOf(extensionId, group))
    if (pause !== undefined) pause.goesOn = false
  }

  /** A continuing pause: its start in epoch milliseconds, and its length so far; null if there is none. */
  standingPause(extensionId: string, group: QuotaGroup): StandingPause | null {
    const pause = this.#pauses.get(nameOf(extensionId, group))
    return pause === undefined ? null : this.#standing(pause)
  }

  /** The extensions with such a pause, some twice. */
  pausedExtensions(): string[] {
    const standing = [...this.#pauses].filter(([, pause]) => this.#standing(pause) !== null)
    return standing.map(([name]) => name.slice(name.indexOf(':') + 1))
  }

  #standing({ began, until, goesOn }: Pause): StandingPause | null {
    const overMs = this.clock.monotonic() - until
    if (began === null || overMs > (goesOn ? MAX_GAP_MS : 0)) return null
    return { since: began, lastedMs: this.clock.now() - Math.max(0, overMs) - began }
  }

  pauseMs(extensionId: string, group: QuotaGroup): number {
    if (this.#pauses.size === 0) return 0
    const ends = [group, WIDER[group] ?? group].map((one) => this.#pauseOf(extensionId, one)?.until ?? 0)
    return Math.max(0, ...ends.map((until) => until - this.clock.monotonic()))
  }

  /** When the current pause began, epoch milliseconds; null if there is none, or it began in an earlier process. */
  pauseBegan(extensionId: string, group: QuotaGroup): number | null {
    return this.#pauseOf(extensionId, group)?.began ?? null
  }

  #pauseOf(extensionId: string, group: QuotaGroup): Pause | null {
    const pause = this.#pauses.get(nameOf(extensionId, group))
    return pause !== undefined && pause.until > this.clock.monotonic() ? pause : null
  }

  /** The taken slots of the extension's window, and its size. */
  extensionUse(extensionId: string): { used: number; limit: number } {
    const used = this.#extension.get(extensionId)?.count(this.clock.monotonic()) ?? 0
    return { used, limit: this.limits.extensionPerMinute() }
  }

  /**
   * Counts an attempt of an earlier process, made `ageMs` ago. The age is negative for an open attempt, and after the clock was
   * set back: it then counts as 0.
   */
  seed(from: string, extensionId: string, ageMs: number): void {
    const at = this.clock.monotonic() - Math.max(0, ageMs)
    this.#windowOf(this.#from, from).add(at)
    this.#windowOf(this.#extension, extensionId).add(at)
  }

  #waitMs(windows: Map<string, SlidingWindow>, key: string, limit: number): number {
    const window = this.#windowOf(windows, key)
    window.limit = limit
    return window.waitMs(this.clock.monotonic())
  }

  /** Only a waiting caller reads the limit, and sets it. */
  #windowOf(windows: Map<string, SlidingWindow>, key: string): SlidingWindow {
    let window = windows.get(key)
    if (window === undefined) {
      if (windows.size > PRUNE_ABOVE) this.#prune(windows)
      windows.set(key, (window = new SlidingWindow(Infinity, WINDOW_MS)))
    }
    return window
  }

  #prune(windows: Map<string, SlidingWindow>): void {
    const now = this.clock.monotonic()
    for (const [key, window] of windows) if (window.count(now) === 0) windows.delete(key)
  }
}

/** A pause of a group also pauses these parts of it. */
const WIDER: Partial<Record<QuotaGroup, QuotaGroup>> = { back_fill: 'light', consents: 'light', threads: 'medium' }

const isTooShort = (announcedMs: number | null): boolean => announcedMs !== null && announcedMs < MIN_ANNOUNCED_PAUSE_MS

/** Whether an answer requests a pause without a useful length: `Retry-After: 0`, a date in the past, garbage. */
export const asksForNoPause = ({ reason, retryAfterMs }: ProviderFailure): boolean =>
  ['rate_limited', 'unavailable', 'intercepted'].includes(reason) && isTooShort(retryAfterMs)

const nameOf = (extensionId: string, group: QuotaGroup): string => `${group}:${extensionId}`
