import type { Timeline } from '../../../client/client.ts'

export type Attempt = Extract<Timeline['entries'][number], { type: 'attempt' }>

/**
 * Whether an attempt's call is in progress. A call whose process ended has no duration either: its message waits until the gateway has asked
 * the message store.
 */
export const isRunning = ({ status, waiting, entries }: Timeline, attempt: Attempt): boolean =>
  attempt.durationMs === null && status === 'sending' && waiting === null && entries.at(-1) === attempt
