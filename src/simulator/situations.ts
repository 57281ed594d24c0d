import type { SituationWish } from '../core/simulator-access.ts'
import type { World } from './world.ts'

/** With it, the gateway continues a second after the situation ends. */
const SOON = { 'Retry-After': '1' }

/** Sets the faults that make a situation. */
export function simulate(world: World, { situation, times, code }: SituationWish): void {
  const { faults, messages } = world
  switch (situation) {
    case 'fail':
      return faults.add({ route: 'sms', calls: times, fault: { kind: 'respond', status: 400 } })
    case 'limit':
      return faults.add({ route: 'sms', calls: times, fault: { kind: 'respond', status: 429, headers: SOON } })
    case 'undelivered':
      return messages.planNext(times, { messageStatus: 'DeliveryFailed', deliveryErrorCode: code })
    case 'outage':
      return faults.add({ route: '*', calls: null, fault: { kind: 'respond', status: 503, headers: SOON } })
    case 'reset':
      return reset(world)
  }
}

/** Ends all faults, and forgets what was planned for messages to come. */
export function reset(world: World): void {
  world.faults.clear()
  world.eventFaults.clear()
  world.socketFaults.clear()
  world.messages.clearPlanned()
  world.next = null
}
