import type { JobKindName } from '../db/schema/jobs.ts'

/** The kinds that job loops run. The send engine runs its own: messages that wait for their turn or for their time. */
export type LoopKindName = Exclude<JobKindName, 'send' | 'schedule'>

/** A row of the jobs table. */
export interface Job {
  seq: number
  id: string
  kind: LoopKindName
  lane: string
  tenantId: string
  /** The id of the row that the job works on. */
  subject: string
}

/**
 * How a run ended, as data.
 * - `done`: the handler deleted or moved the job in the commit of its result.
 * - `snooze`: the job runs again after `delayMs`; other jobs of its lane go on.
 * - `reread`: prefetched jobs are out of date; the lane is read from its start, and the job runs again.
 * - `wait`: no job of the lane begins for `delayMs` or until the lane is freed; the job keeps its position and is not read again.
 */
export type JobOutcome =
  | { type: 'done' }
  | { type: 'snooze'; delayMs: number }
  | { type: 'reread' }
  | { type: 'wait'; delayMs: number }

export const DONE: JobOutcome = { type: 'done' }

/** How jobs of one kind are run. */
export interface JobKind<Subject> {
  name: LoopKindName
  /** How many jobs of this kind may run at once, in total and in one lane. */
  maxInFlight: number
  maxPerLane: number
  /**
   * How many jobs are prefetched with their subjects; none if absent. The lanes share this evenly. A subject may change while
   * its job waits, so a run must check for that in its own commit.
   */
  maxPrefetched?: number
  /** Jobs of a lane run in the order in which they were created, or with `due` in which they become due. Excludes `maxPrefetched`. */
  order?: 'due'
  /** How many jobs of the lane may start now. At 0 the lane waits until it is freed. */
  room?(lane: string): number
  /** Reads the subjects of several jobs at once. */
  load(subjects: string[]): Promise<Map<string, Subject>>
  run(job: Job, subject: Subject): Promise<JobOutcome>
}
