import type { Clock } from '../core/clock.ts'
import { sha256Hex } from '../core/secrets.ts'
import type { EventSocket } from './event-socket.ts'

/** After this much silence the gateway asks for a sign of life (RingCentral: not before 30 s). Each socket has its own time. */
const SILENT_MS = 30_000
const SPREAD_MS = 15_000

/** An open socket whose end is detected even if nothing announces it. */
export class HeldSocket {
  readonly openedAt: number
  /** Whether it is to be replaced. */
  isStale = false
  readonly #silentMs: number
  #heardAt: number
  #cancel: () => void = () => undefined
  #isClosed = false

  /** `dead` is called once, if there is no sign of life. */
  constructor(
    readonly socket: EventSocket,
    /** When the extension of its session was connected. */
    readonly connectedAt: number,
    readonly context: { name: string; clock: Clock; dead: () => void },
  ) {
    const { clock, name } = context
    this.#silentMs = SILENT_MS + (Number.parseInt(sha256Hex(name).slice(0, 8), 16) % SPREAD_MS)
    this.openedAt = clock.monotonic()
    this.#heardAt = this.openedAt
    this.#watch()
  }

  /** Call it for each frame. */
  heard(): void {
    this.#heardAt = this.context.clock.monotonic()
  }

  get ageMs(): number {
    return this.context.clock.monotonic() - this.openedAt
  }

  close(): void {
    this.#isClosed = true
    this.#cancel()
    this.socket.close()
  }

  #watch(): void {
    const silentMs = this.context.clock.monotonic() - this.#heardAt
    this.#cancel = this.context.clock.after(Math.max(1, this.#silentMs - silentMs), () => void this.#check())
  }

  async #check(): Promise<void> {
    const heardAt = this.#heardAt
    const isSilent = this.context.clock.monotonic() - heardAt >= this.#silentMs
    // Any frame is a sign of life.
    const isDead = isSilent && !(await this.socket.heartbeat()) && this.#heardAt === heardAt
    if (this.#isClosed) return
    if (isDead) this.context.dead()
    else this.#watch()
  }
}
