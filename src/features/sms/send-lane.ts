import type { OutboundMessage } from './outbound-message.ts'

/** Behind the number. */
export const AGAIN = '/again'

/**
 * The lane of a message's `send` job: its `from` number. One that was tried before has a lane beside it, so that its time
 * cannot run out behind first sends that wait for their turn.
 */
export const sendLaneOf = ({ from, status }: Pick<OutboundMessage, 'from' | 'status'>): string =>
  status === 'queued' ? from : from + AGAIN

export const numberOfLane = (lane: string): string => (lane.endsWith(AGAIN) ? lane.slice(0, -AGAIN.length) : lane)
