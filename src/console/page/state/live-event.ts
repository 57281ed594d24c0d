import type { GapEvent, GatewayEvent } from '../../../client/client.ts'

/** An event of the socket, or a gap where events may be missing. */
export type LiveEvent = GatewayEvent | GapEvent
