import type { ProviderChanges } from '../core/provider-changes.ts'
import type { SimulatorAccess } from '../core/simulator-access.ts'
import { checked } from './arguments.ts'
import type { EventFault } from './event-faults.ts'
import type { FaultRule, RandomFaults } from './faults.ts'
import type { Limits } from './rate-limit.ts'
import type { Counters, LoggedRequest } from './request-log.ts'
import { ROUTE_NAMES } from './routes.ts'
import { SettingsShape } from './settings.ts'
import { reset, simulate } from './situations.ts'
import {
  CallsFilterShape,
  EventFaultShape,
  FaultRuleShape,
  LimitsShape,
  NextFaultShape,
  RandomFaultsShape,
  RequestsFilterShape,
  WishShape,
} from './traffic-arguments.ts'
import type { World } from './world.ts'

/** The control knobs for faults, limits and settings, and for the requests that the simulator has received. */
export interface TrafficKnobs
  extends
    Pick<ProviderChanges, 'configure'>,
    Pick<SimulatorAccess, 'simulate' | 'setNextFault' | 'nextFault' | 'calls'> {
  /** Sets a fault for the next calls of one route or of all. Rules apply in the order in which they were made. */
  fault(rule: FaultRule): void
  /** Sets random faults, repeatable by the seed; null ends them. The rules of `fault` come first. */
  randomFaults(faults: RandomFaults | null): void
  clearFaults(): void
  /** Ends all faults, and forgets the outcomes that `planNextSms` has set for messages to come. */
  reset(): void
  faultEvents(fault: EventFault): void
  clearEventFaults(): void
  setLimits(limits: Partial<Limits>): Limits
  /** The last 10,000 requests, oldest first. `limit` counts from the newest. */
  requests(filter?: { route?: string; extensionId?: string; limit?: number }): LoggedRequest[]
  clearRequests(): void
  counters(): Counters
  /** Resolves when no event delivery is running. */
  settled(): Promise<void>
}

export function trafficKnobs(world: World): TrafficKnobs {
  const { faults, eventFaults, rateLimit, settings, log } = world
  return {
    fault(given) {
      const rule = checked(FaultRuleShape, given)
      checkRoute(rule.route)
      faults.add(rule)
    },
    randomFaults(given) {
      const random = checked(RandomFaultsShape, given)
      for (const { route } of random?.rules ?? []) checkRoute(route)
      faults.setRandom(random)
    },
    clearFaults: () => faults.clear(),
    reset: () => reset(world),
    simulate: (wish) => simulate(world, checked(WishShape, wish)),
    faultEvents: (fault) => eventFaults.add(checked(EventFaultShape, fault)),
    clearEventFaults: () => eventFaults.clear(),
    setLimits: (limits) => ({ ...Object.assign(rateLimit.limits, checked(LimitsShape, limits)) }),
    configure: (changes) => ({ ...Object.assign(settings, checked(SettingsShape, changes)) }),
    requests(filter = {}) {
      const { route, extensionId, limit = Number.MAX_SAFE_INTEGER } = checked(RequestsFilterShape, filter)
      return log
        .entries()
        .filter((entry) => route === undefined || entry.route === route)
        .filter((entry) => extensionId === undefined || entry.extensionId === extensionId)
        .slice(-limit)
    },
    clearRequests: () => log.clear(),
    calls: (filter = {}) => world.calls.list(checked(CallsFilterShape, filter)),
    setNextFault: (next) => void (world.next = checked(NextFaultShape, next)),
    nextFault: () => world.next,
    counters: () => structuredClone(log.counters),
    async settled() {
      while (world.deliveries.size > 0) await Promise.allSettled(world.deliveries)
    },
  }
}

function checkRoute(route: string): void {
  if (route === '*' || ROUTE_NAMES.includes(route)) return
  throw new Error(`Unknown route ${route}: use * or one of ${ROUTE_NAMES.join(', ')}`)
}
