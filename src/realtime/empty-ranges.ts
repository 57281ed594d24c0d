interface Range {
  after: number
  until: number
}

const MAX_READERS = 1000

/**
 * Remembers ranges of the log that have no events of an app. The log has no index by app, so without this every request of
 * the app would read the rows of others again. Rows never change, so a range stays empty.
 */
export class EmptyRanges {
  readonly #ranges = new Map<string, Range>()

  /** The row after which `reader` must continue to read: `seq`, or the end of the empty range that contains it. */
  endOf({ appId }: { appId: string }, seq: number, newest: number): number {
    const range = this.#ranges.get(appId)
    return range !== undefined && range.after <= seq && seq < range.until ? Math.min(range.until, newest) : seq
  }

  /**
   * Notes that the rows after `after` up to `until` have no events of `reader`. Keeps one range for each app: the longest,
   * joined with adjacent ones.
   */
  note({ appId }: { appId: string }, after: number, until: number): void {
    const known = this.#ranges.get(appId)
    const range = known === undefined ? { after, until } : joined(known, { after, until })
    this.#ranges.delete(appId)
    this.#ranges.set(appId, range)
    const [oldest] = this.#ranges.size > MAX_READERS ? this.#ranges.keys() : []
    if (oldest !== undefined) this.#ranges.delete(oldest)
  }
}

function joined(one: Range, other: Range): Range {
  const adjoins = one.after <= other.until && other.after <= one.until
  if (adjoins) return { after: Math.min(one.after, other.after), until: Math.max(one.until, other.until) }
  return one.until - one.after >= other.until - other.after ? one : other
}
