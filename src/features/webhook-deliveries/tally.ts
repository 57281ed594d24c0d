/** How many there are of each name, up to a bound, and who waits for one of them to leave. */
export class Tally {
  readonly #counts = new Map<string, number>()
  readonly #waiting = new Map<string, Map<string, () => void>>()

  constructor(readonly max: number) {}

  left(name: string): number {
    return this.max - (this.#counts.get(name) ?? 0)
  }

  /** `who` need not wait any longer: a turn that is not taken would be lost to the others. */
  add(name: string, who: string): void {
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1)
    this.#waiting.get(name)?.delete(who)
  }

  /** `freed` is called once, when it is the turn of `who`; somebody waits once, whoever asks how often. */
  wait(name: string, who: string, freed: () => void): void {
    const line = this.#waiting.get(name) ?? new Map<string, () => void>()
    this.#waiting.set(name, line)
    if (!line.has(who)) line.set(who, freed)
  }

  /** Those who have waited longest hear of the room that there is. */
  remove(name: string): void {
    const count = this.#counts.get(name) ?? 1
    if (count === 1) this.#counts.delete(name)
    else this.#counts.set(name, count - 1)
    const line = this.#waiting.get(name)
    if (line === undefined) return
    let room = this.left(name)
    for (const [who, freed] of line) {
      if (room-- <= 0) break
      line.delete(who)
      freed()
    }
    if (line.size === 0) this.#waiting.delete(name)
  }
}
