import type { Replica } from '../../src/db/replicated-gate.ts'

/** A replica that stores immediately, never answers while it is held, or fails. */
export class HeldReplica implements Replica {
  /** How often it was asked. */
  asked = 0
  /** Why it fails; null while it stores. */
  failure: string | null = null
  #held: PromiseWithResolvers<void> | null = null

  async store(): Promise<void> {
    this.asked++
    await this.#held?.promise
    if (this.failure !== null) throw new Error(this.failure)
  }

  hold(): void {
    this.#held = Promise.withResolvers<void>()
  }

  release(): void {
    this.#held?.resolve()
    this.#held = null
  }
}

/** A replica that stores immediately, and whose later confirmation can be held, or fails. */
export class ConfirmedReplica extends HeldReplica {
  readonly confirmation = new HeldReplica()

  confirm(): Promise<void> {
    return this.confirmation.store()
  }
}
