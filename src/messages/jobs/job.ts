import type { Clock } from '../../core/clock.ts'
import type { LimitedKey, LimiterBounds, Slot } from '../../core/limiter.ts'
import type { Log } from '../../core/log.ts'
import type { Gate } from '../../db/gate.ts'
import type { JobKindName } from '../../db/schema/jobs.ts'
import type { Writer } from '../../db/writer.ts'

/** The kinds that job loops run. The send engine runs its own kinds: messages that wait for their turn or their time. */
export type LoopKindName = Exclude<JobKindName, 'send' | 'schedule'>

/** A row of the jobs table. */
export interface Job {
  seq: number
  id: string
  kind: LoopKindName
  lane: string
  tenantId: string
  /** The subject: a message, a delivery, or an extension. */
  subject: string
}

/**
 * How a run ended, as data.
 * - `done`: the handler deleted or moved the job in the commit of its result.
 * - `snooze`: the job runs again after `delayMs`; other jobs of its lane continue. - `wait`: no job of the lane begins for `delayMs` or until
 * its tenant is freed; the job keeps its position.
 */
export type JobOutcome = { type: 'done' } | { type: 'snooze'; delayMs: number } | { type: 'wait'; delayMs: number }

export const DONE: JobOutcome = { type: 'done' }

/** How to run jobs of one kind. A lane's jobs start in the order in which they become due; ties start in order of creation. */
export interface JobKind<Subject> {
  name: LoopKindName
  /** How many jobs of this kind may run at once. */
  bounds: LimiterBounds
  maxPerLane: number
  /** A limit for a job with this subject, besides its lane. Tenants do not share it. */
  keyOf?(subject: Subject): LimitedKey
  /** Reads the subjects of several jobs at once. */
  load(subjects: string[]): Promise<Map<string, Subject>>
  /** Runs a job. It may release the slot before its end, so that another job can begin. */
  run(job: Job, subject: Subject, slot: Pick<Slot, 'release'>): Promise<JobOutcome>
}

/** Dependencies that all loops share. */
export interface LoopContext {
  gate: Gate
  writer: Writer
  clock: Clock
  log: Log
  /** Runs a callback in a later tick of the event loop, so that a long run of jobs does not block other work. */
  defer: (run: () => void) => void
}
