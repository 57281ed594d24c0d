import type { LimitedKey, Slot } from '../../core/limiter.ts'

/**
 * A tenant's lane with jobs, in memory. If two tenants use the same name (an extension that both have connected), each has its
 * own lane, so that holding one does not hold the other.
 */
export class Lane {
  /** How many due jobs the lane may have that have not started; Infinity if unknown. */
  wanted = 0
  /** Slots for jobs that are still to be read. */
  slots: Slot[] = []
  /** True while its jobs are being read, so that it is not forgotten. */
  isBeingRead = false
  /** The running jobs. Reads skip them. */
  readonly running = new Set<number>()
  /** What limits its jobs. */
  keys: readonly LimitedKey[]
  /** No job starts before this monotonic time. */
  heldUntil = 0
  /** How often its tenant was freed. */
  freed = 0
  /** Leaves the limiter's queue; null while it waits for no slot. */
  leaveQueue: (() => void) | null = null
  /** Monotonic time of the alarm; Infinity without one. */
  alarmAt = Infinity
  cancelAlarm: () => void = () => undefined

  constructor(
    readonly lane: string,
    readonly tenantId: string,
    maxPerLane: number,
  ) {
    this.keys = [{ name: nameOf(lane, tenantId), max: maxPerLane }]
  }

  /** Notes what limits its jobs besides the lane itself. */
  alsoLimitedBy(key: LimitedKey): void {
    this.keys = [...this.keys.slice(0, 1), key]
  }

  /** Gives up its slots and its wait for one. */
  giveBack(): void {
    this.leaveQueue?.()
    this.leaveQueue = null
    for (const slot of this.slots.splice(0)) slot.release()
  }

  get isIdle(): boolean {
    return this.running.size === 0 && this.wanted === 0 && this.alarmAt === Infinity && !this.isBeingRead
  }
}

export const nameOf = (lane: string, tenantId: string): string => `${tenantId} ${lane}`
