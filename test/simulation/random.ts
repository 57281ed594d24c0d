/** The only source of randomness of a run, so that a seed always runs the same way. */
export interface Random {
  /** In [0, 1). */
  next(): number
  chance(probability: number): boolean
  /** An integer; both ends are included. */
  int(low: number, high: number): number
  /** Milliseconds in [low, high), in steps of 1/8 so that sums stay exact. */
  ms(low: number, high: number): number
  /** Like `ms`, with a logarithmic distribution. */
  spread(low: number, high: number): number
  pick<Item>(items: readonly Item[]): Item
  /** Draws one of the names with the probability of its weight. */
  weighted<Name extends string>(weights: Partial<Record<Name, number>>): Name
  bytes(length: number): Uint8Array
}

/** sfc32, started from a seed. */
export function createRandom(seed: number): Random {
  let a = 0x9e3779b9 ^ seed
  let b = 0x243f6a88
  let c = 0xb7e15162
  let d = 1
  const word = (): number => {
    const sum = (((a + b) | 0) + d) | 0
    d = (d + 1) | 0
    a = b ^ (b >>> 9)
    b = (c + (c << 3)) | 0
    c = (c << 21) | (c >>> 11)
    c = (c + sum) | 0
    return sum >>> 0
  }
  for (let round = 0; round < 16; round++) word()

  const next = (): number => word() / 0x1_0000_0000
  const int = (low: number, high: number): number => low + Math.floor(next() * (high - low + 1))
  const ms = (low: number, high: number): number => Math.floor((low + next() * (high - low)) * 8) / 8
  return {
    next,
    int,
    ms,
    chance: (probability) => next() < probability,
    spread: (low, high) => ms(low, low * (high / low) ** next()),
    pick<Item>(items: readonly Item[]): Item {
      const item = items[int(0, items.length - 1)]
      if (item === undefined) throw new Error('Cannot pick from an empty list')
      return item
    },
    weighted<Name extends string>(weights: Partial<Record<Name, number>>): Name {
      const names = Object.keys(weights) as Name[]
      let left = next() * names.reduce((sum, name) => sum + (weights[name] ?? 0), 0)
      for (const name of names) {
        left -= weights[name] ?? 0
        if (left < 0) return name
      }
      throw new Error('Cannot draw from no weights')
    },
    bytes: (length) => Uint8Array.from({ length }, () => word() & 0xff),
  }
}
