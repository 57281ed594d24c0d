/** A row of the jobs table, as a verb sees it. */
export interface Job {
  seq: number
  id: string
  kind: string
  lane: string
  tenantId: string
  /** The id of the row that the job works on. */
  subject: string
  /** Epoch milliseconds. */
  createdAt: number
}

/**
 * What became of a run, as data.
 * - `done`: the verb deleted or moved the job itself, in the same commit as its result.
 * - `snooze`: this job again after `delayMs`; others of its lane go on.
 * - `hold`: the whole lane again after `delayMs`, or when the kind is released before; the job keeps its place.
 * - `wait`: the same, but the job need not be read again, and the lane goes on as soon as it is freed.
 * - `fault`: as `hold`, but nothing shortens it: what failed may be what releases.
 */
export type JobOutcome =
  | { type: 'done' }
  | { type: 'snooze'; delayMs: number }
  | { type: 'hold'; delayMs: number }
  | { type: 'wait'; delayMs: number }
  | { type: 'fault'; delayMs: number }

export const DONE: JobOutcome = { type: 'done' }

/** How jobs of one kind are run. */
export interface JobKind<Subject> {
  name: string
  /** Jobs of this kind that run at once, and how many of them in one lane. */
  maxInFlight: number
  maxPerLane: number
  /**
   * How many jobs lie ready in memory with what they work on; none if absent. A lane has its share when one is laid there:
   * while lanes come one by one it is more in all. What they work on may change meanwhile: a run must find that out in its own commit.
   */
  maxReady?: number
  /** How many jobs of the lane may start now; with none, when to ask again. */
  room?(lane: string, tenantId: string): { jobs: number; waitMs: number }
  /** Reads what the jobs work on, all of a pick at once. */
  load(subjects: string[]): Promise<Map<string, Subject>>
  run(job: Job, subject: Subject): Promise<JobOutcome>
}
