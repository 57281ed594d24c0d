import type { NextFault } from '../core/simulator-access.ts'
import type { Fault } from './faults.ts'
import { jsonObject, type Reply } from './http.ts'
import { OPTED_OUT } from './consents.ts'
import type { Arrival } from './routes.ts'
import type { World } from './world.ts'

/** The console's fault of one send. */
export interface TakenFault {
  name: NextFault
  /** Null if the answer is the right one. */
  fault: Fault | null
  process(arrival: Arrival): Reply | Promise<Reply>
}

/** Takes the fault that was set for the next send, so that the send after it has none. */
export function takeNext(world: World): TakenFault | null {
  const name = world.next
  if (name === null) return null
  world.next = null
  return {
    name,
    fault: FAULTS[name],
    process: (arrival) => (name === 'opted-out' ? processOptedOut(world, arrival) : arrival.process()),
  }
}

const FAULTS: Record<NextFault, Fault | null> = {
  '429': { kind: 'respond', status: 429, headers: { 'Retry-After': '2' } },
  '5xx-after': { kind: 'accept-then-respond', status: 502 },
  slow: { kind: 'delay', ms: 3000 },
  'opted-out': null,
}

/** Accepts the message. Its record fails as soon as it would be sent. */
async function processOptedOut(world: World, arrival: Arrival): Promise<Reply> {
  const reply = await arrival.process()
  const message = world.messages.find(Number(jsonObject(reply.body)?.['id']))
  if (message !== undefined) message.outcome = OPTED_OUT
  return reply
}
