import type { Job, JobKind } from './job.ts'
import type { LoopContext } from './loop-context.ts'
import { JobLoop } from './loop.ts'

interface AnyLoop {
  start(): void
  stop(): Promise<void>
  added(lane: string, tenantId: string): void
  ready(job: Job, subject: unknown): void
  moved(lane: string, tenantId: string, delayMs: number): void
  release(): void
  laneFreed(lane: string, tenantId: string): void
  freed(): void
}

/** All job loops, by kind. Kinds are registered by `worker.ts`; everyone else only says that a job was committed. */
export class Jobs {
  readonly #loops = new Map<string, AnyLoop>()

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

  /** Call after the commit that wrote the job. */
  added(kind: string, lane: string, tenantId: string): void {
    this.#loops.get(kind)?.added(lane, tenantId)
  }

  /** Call after the commit that wrote the job, when its subject is what the kind would load. */
  ready(job: Job, subject: unknown): void {
    this.#loops.get(job.kind)?.ready(job, subject)
  }

  /** Call after the commit that changed an existing job's kind or lane. */
  moved(kind: string, lane: string, tenantId: string, delayMs: number): void {
    this.#loops.get(kind)?.moved(lane, tenantId, delayMs)
  }

  /** What jobs of this lane wait for has come, or the kind's `room` has more of it than before. */
  laneFreed(kind: string, lane: string, tenantId: string): void {
    this.#loops.get(kind)?.laneFreed(lane, tenantId)
  }

  /** More jobs of that kind may run at once than before. */
  freed(kind: string): void {
    this.#loops.get(kind)?.freed()
  }

  /** Looks again at every lane of that kind, held or not. */
  release(kind: string): void {
    this.#loops.get(kind)?.release()
  }
}
