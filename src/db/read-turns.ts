import { FairQueue } from './fair-queue.ts'

/**
 * Long reads are split into slices. Each tick of the event loop reads one slice, of the tenant that has waited longest. So
 * however many reads a tenant has asked for at once, other work waits for one slice.
 */
export class ReadTurns {
  readonly #waiting = new FairQueue<() => void>()
  #isPlanned = false

  /** `defer` calls back in a later tick of the event loop. */
  constructor(readonly defer: (run: () => void) => void) {}

  /** Resolves when the tenant may read its next slice. */
  next(tenantId: string): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.add(tenantId, resolve)
      this.#plan()
    })
  }

  #plan(): void {
    if (this.#isPlanned) return
    this.#isPlanned = true
    this.defer(() => this.#begin())
  }

  #begin(): void {
    this.#isPlanned = false
    const begin = this.#waiting.take()
    if (begin === undefined) return
    begin()
    this.#plan()
  }
}
