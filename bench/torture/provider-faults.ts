import type { RandomFaults } from '../../src/simulator/faults.ts'

/** Longer than `PROVIDER_TIMEOUT`: the gateway gives up first. */
const HANG_MS = 4000

/**
 * What the provider suffers while the load runs: 3 % 429, 2 % 502 before and 2 % 502 after it took the message, 0.5 %
 * hang (half of it after). A third of the answers is late by 30 ms, so that more kills meet an open call. Looks into
 * its message store fail as well.
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
