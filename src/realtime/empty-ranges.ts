interface Range {
  after: number
  until: number
}

const MAX_READERS = 1000

/**
 * Remembers where an app has no events, because no index of the log leads to those of one app. The rows of others are then
 * passed once, however often the app asks. Rows never change, so a range stays empty.
 */
export class EmptyRanges {
  readonly #ranges = new Map<string, Range>()

  /** Where the rows begin that `reader` must read after `seq`. */
  endOf({ appId }: { appId: string }, seq: number, newest: number): number {
    const range = this.#ranges.get(appId)
    return range !== undefined && range.after <= seq && seq < range.until ? Math.min(range.until, newest) : seq
  }

  /** The rows after `after` up to `until` have no events of `reader`. One range is kept for each app: the longest, and what adjoins it. */
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
