/**
 * The distinct values of a column of a segment, in ascending order. The code of a value is its position. They are stored as one
 * text, because a segment may have thousands of them and parsing an array of strings would take longer than a query.
 */
export class Dictionary {
  constructor(
    /** All values, one after the other. */
    readonly text: string,
    /** Where each of them ends in `text`. */
    readonly ends: Uint32Array,
  ) {}

  /** The values must be distinct and sorted by `toSorted`. */
  static of(values: readonly string[]): Dictionary {
    let end = 0
    const ends = Uint32Array.from(values, (value) => (end += value.length))
    return new Dictionary(values.join(''), ends)
  }

  get size(): number {
    return this.ends.length
  }

  /** The code of the value, or -1 if no row has it. */
  codeOf(value: string): number {
    let low = 0
    for (let high = this.size; low < high;) {
      const middle = (low + high) >> 1
      if (this.#compare(middle, value) < 0) low = middle + 1
      else high = middle
    }
    return low < this.size && this.#compare(low, value) === 0 ? low : -1
  }

  /** By UTF-16 code units, as `toSorted` compares. Creates no string: one query makes hundreds of comparisons. */
  #compare(code: number, value: string): number {
    const start = code === 0 ? 0 : (this.ends[code - 1] ?? 0)
    const length = (this.ends[code] ?? 0) - start
    const shared = Math.min(length, value.length)
    for (let i = 0; i < shared; i++) {
      const difference = this.text.charCodeAt(start + i) - value.charCodeAt(i)
      if (difference !== 0) return difference
    }
    return length - value.length
  }
}
