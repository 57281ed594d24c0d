import type { CallFilter, NextFault, SituationWish } from '../core/simulator-access.ts'
import { checked } from './arguments.ts'
import type { EventFault } from './event-faults.ts'
import type { FaultRule, RandomFaults } from './faults.ts'
import type { Limits } from './rate-limit.ts'
import type { LoggedRequest, RequestLog } from './request-log.ts'
import { ROUTE_NAMES } from './routes.ts'
import { type Settings, SettingsShape } from './settings.ts'
import { reset, simulate } from './situations.ts'
import type { World } from './world.ts'

/** The control knobs for faults, limits and settings, and for the requests that the simulator has received. */
export function trafficKnobs(world: World) {
  const { faults, eventFaults, rateLimit, settings, log } = world

  function fault(rule: FaultRule): void {
    checkRoute(rule.route)
    faults.add(rule)
  }

  function randomFaults(random: RandomFaults | null): void {
    for (const { route } of random?.rules ?? []) checkRoute(route)
    faults.setRandom(random)
  }

  return {
    fault,
    randomFaults,
    clearFaults: () => faults.clear(),
    reset: () => reset(world),
    simulate: (wish: SituationWish) => simulate(world, wish),
    faultEvents: (one: EventFault) => eventFaults.add(one),
    clearEventFaults: () => eventFaults.clear(),
    setLimits: (limits: Partial<Limits>): Limits => ({ ...change(rateLimit.limits, limits) }),
    configure: (changes: Partial<Settings>): Settings => ({
      ...Object.assign(settings, checked(SettingsShape, changes)),
    }),
    requests: (filter: RequestFilter = {}) => requestsOf(log, filter),
    clearRequests: () => log.clear(),
    calls: (filter: CallFilter = {}) => world.calls.list(filter),
    setNextFault: (next: NextFault | null): void => void (world.next = next),
    nextFault: () => world.next,
    counters: () => structuredClone(log.counters),
    async settled(): Promise<void> {
      while (world.deliveries.size > 0) await Promise.allSettled(world.deliveries)
    },
  }
}

interface RequestFilter {
  route?: string
  extensionId?: string
  limit?: number
}

function requestsOf(log: RequestLog, filter: RequestFilter): LoggedRequest[] {
  const { route, extensionId, limit = Number.MAX_SAFE_INTEGER } = filter
  return log
    .entries()
    .filter((entry) => route === undefined || entry.route === route)
    .filter((entry) => extensionId === undefined || entry.extensionId === extensionId)
    .slice(-limit)
}

function checkRoute(route: string): void {
  if (route === '*' || ROUTE_NAMES.includes(route)) return
  throw new Error(`Unknown route ${route}: use * or one of ${ROUTE_NAMES.join(', ')}`)
}

/** Assigns in place. Throws on an unknown name, because a misspelt setting would have no effect. */
function change<T extends object>(target: T, changes: Partial<T>): T {
  for (const name of Object.keys(changes)) if (!Object.hasOwn(target, name)) throw new Error(`Unknown setting ${name}`)
  return Object.assign(target, changes)
}
