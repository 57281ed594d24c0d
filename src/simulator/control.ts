import { type ExtensionKnobs, extensionKnobs } from './control-extensions.ts'
import { type MessageKnobs, messageKnobs } from './control-messages.ts'
import { type SessionKnobs, sessionKnobs } from './control-sessions.ts'
import { type SocketKnobs, socketKnobs } from './control-sockets.ts'
import { type SubscriptionKnobs, subscriptionKnobs } from './control-subscriptions.ts'
import { type TrafficKnobs, trafficKnobs } from './control-traffic.ts'
import type { World } from './world.ts'

/**
 * The control API, in the process and over HTTP: `POST /control/<name>` with the argument as JSON body returns the result
 * as JSON. All ids are strings. All times are epoch milliseconds of the simulator's clock. A wrong argument throws (400 over HTTP).
 */
export interface SimulatorControl
  extends ExtensionKnobs, SessionKnobs, SubscriptionKnobs, SocketKnobs, MessageKnobs, TrafficKnobs {}

export const createControl = (world: World): SimulatorControl => ({
  ...extensionKnobs(world),
  ...sessionKnobs(world),
  ...subscriptionKnobs(world),
  ...socketKnobs(world),
  ...messageKnobs(world),
  ...trafficKnobs(world),
})
