import type { JobKind, LoopContext, LoopKindName } from './job.ts'
import { JobLoop } from './loop.ts'

type AnyLoop = Pick<JobLoop<unknown>, 'start' | 'stop' | 'wake' | 'tenantFreed'>

/** All job loops, by kind. `worker.ts` registers the kinds; code that commits a job wakes its lane. Throws for a kind that is not registered. */
export class Jobs {
  readonly #loops = new Map<LoopKindName, AnyLoop>()

  constructor(readonly context: LoopContext) {}

  register<Subject>(kind: JobKind<Subject>): void {
    this.#loops.set(kind.name, new JobLoop(kind, this.context))
  }

  start(): void {
    for (const loop of this.#loops.values()) loop.start()
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#loops.values()].map((loop) => loop.stop()))
  }

  /**
   * Call after the commit that inserted or changed a job of this lane so that it is due after `delayMs`. A command without a server has
   * no loops; the next start reads the job.
   */
  wake(kind: LoopKindName, lane: string, tenantId: string, delayMs: number): void {
    if (this.#loops.size > 0) this.#loop(kind).wake(lane, tenantId, delayMs)
  }

  /** Call when waiting jobs of this tenant may continue. */
  tenantFreed(tenantId: string): void {
    for (const loop of this.#loops.values()) loop.tenantFreed(tenantId)
  }

  #loop(kind: LoopKindName): AnyLoop {
    const loop = this.#loops.get(kind)
    if (loop === undefined) throw new Error(`Cannot run a job of kind ${kind}: no such kind is registered`)
    return loop
  }
}
