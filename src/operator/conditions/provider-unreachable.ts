import { isoTime } from '../../core/clock.ts'
import { connectionFix } from '../../provider/refused-by-proxy.ts'
import type { ConditionSource } from './condition.ts'

/** A short outage needs no action, and costs only time. */
const HOLD_MS = 2 * 60_000
const OTHERS = "DNS, the firewall and the network, and RingCentral's status page"

/** The provider does not answer. */
export const providerUnreachable: ConditionSource = {
  alert: 'provider_unreachable',
  check: 'provider',
  find: async ({ config, clock, providerState: { silentSince, silenceCode } }) => {
    if (silentSince === null) return []
    const { serverUrl, throughProxy } = config.provider
    const silentMs = clock.monotonic() - silentSince
    const since = Math.floor(clock.now() - silentMs)
    const fix = connectionFix(silenceCode, throughProxy, OTHERS)
    return [
      {
        what: `${serverUrl} has not answered since ${isoTime(since)}, so messages wait`,
        fix: `${fix.charAt(0).toUpperCase()}${fix.slice(1)}.`,
        overText: `Resolved: ${serverUrl} answers again.`,
        detail: { silentSeconds: Math.floor(silentMs / 1000) },
        since,
        holdMs: HOLD_MS,
      },
    ]
  },
}
