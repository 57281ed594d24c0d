import type { JobKindName } from '../db/schema/jobs.ts'

/** The kinds that job loops run. The send engine has a scheduler of its own. */
export type LoopKindName = Exclude<JobKindName, 'send'>

/** A row of the jobs table. */
export interface Job {
  seq: number
  id: string
  kind: LoopKindName
  lane: string
  tenantId: string
  /** The id of the row that the job works on. */
  subject: string
  /** Epoch milliseconds. */
  createdAt: number
}

/**
 * How a run ended, as data.
 * - `done`: the handler deleted or moved the job itself, in the same commit as its result.
 * - `snooze`: this job runs again after `delayMs`; others of its lane go on.
 * - `reread`: the job runs again after the lane was read from its start: what was prefetched is out of date.
 * - `wait`: the lane runs nothing for `delayMs` or until it is freed; the job keeps its position and is not read again.
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
  /** Jobs of this kind that run at once, and how many of them in one lane. */
  maxInFlight: number
  maxPerLane: number
  /**
   * How many jobs are prefetched into memory with their subjects; none if absent. The lanes share this evenly. A subject
   * may change while its job waits: a run must detect that in its own commit.
   */
  maxPrefetched?: number
  /** Whether the jobs of a lane run in the order in which they were made (the default) or came due. The latter excludes `maxPrefetched`. */
  order?: 'due'
  /** How many jobs of the lane may start now. A lane with none waits until it is freed. */
  room?(lane: string): number
  /** Reads the subjects of several jobs at once. */
  load(subjects: string[]): Promise<Map<string, Subject>>
  run(job: Job, subject: Subject): Promise<JobOutcome>
}
