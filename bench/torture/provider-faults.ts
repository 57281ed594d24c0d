import type { RandomFaults } from '../../src/simulator/faults.ts'

/** Longer than `PROVIDER_TIMEOUT`, so that the gateway gives up first. */
const HANG_MS = 4000

/**
 * The provider's faults during the load: 3 % are 429, 2 % are 502 before and 2 % are 502 after it accepted the message,
 * and 0.5 % hang, half of them after it accepted the message. A third of the answers are 30 ms late, so that more kills
 * hit an open call. Lookups in the message store fail, too.
 */
export const providerFaults = (seed: number, hangs = true): RandomFaults => ({
  seed,
  rules: [
    { route: 'sms', rate: 0.03, fault: { kind: 'respond', status: 429, headers: { 'Retry-After': '1' } } },
    { route: 'sms', rate: 0.02, fault: { kind: 'respond', status: 502 } },
    { route: 'sms', rate: 0.02, fault: { kind: 'accept-then-respond', status: 502 } },
    { route: 'sms', rate: hangs ? 0.0025 : 0, fault: { kind: 'hang', ms: HANG_MS } },
    { route: 'sms', rate: hangs ? 0.0025 : 0, fault: { kind: 'accept-then-hang', ms: HANG_MS } },
    { route: 'sms', rate: 0.33, fault: { kind: 'delay', ms: 30 } },
    { route: 'message-store', rate: 0.03, fault: { kind: 'respond', status: 502 } },
  ],
})
