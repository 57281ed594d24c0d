import type { Lease } from '../../src/core/lease.ts'

/** A lease that is granted immediately, or not before `grant`. */
export class HeldGrant implements Lease {
  readonly epoch = 1
  readonly holder = 'one:3000'
  /** How often somebody had to wait. */
  waited = 0
  #held: PromiseWithResolvers<void> | null = null

  hold(): void {
    this.#held = Promise.withResolvers<void>()
  }

  grant(): void {
    this.#held?.resolve()
    this.#held = null
  }

  granted(): Promise<void> | undefined {
    if (this.#held !== null) this.waited++
    return this.#held?.promise
  }

  ageMs = (): number => 250
  readonly standbys = null
  clockDifference = (): null => null
  testStorage = (): Promise<string> => Promise.resolve('fit')
  give(): void {}
}
