/**
 * How far the event log is safely stored. Later events can still be lost with this machine, and then other events get the same numbers, so no
 * client may see them, or get a cursor behind them.
 */
export class StoredEvents {
  #newest: number
  readonly #listeners: (() => void)[] = []

  /** Without a replica every committed row is stored. */
  constructor(hasReplica: boolean) {
    this.#newest = hasReplica ? 0 : Number.MAX_SAFE_INTEGER
  }

  /** The `seq` of the newest stored row, or more. */
  get newest(): number {
    return this.#newest
  }

  /** Call when the replica has stored all rows up to this one. */
  stored(seq: number): void {
    if (seq <= this.#newest) return
    this.#newest = seq
    for (const listener of this.#listeners) listener()
  }

  /** Calls the listener when there are more stored rows, also when a fault of the replica is over. */
  onStored(listener: () => void): void {
    this.#listeners.push(listener)
  }
}

/** Run in the same commit as the rows. */
export const NEWEST_EVENT = 'SELECT max(seq) AS seq FROM events'
