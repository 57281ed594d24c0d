import type { Gateway } from '../messages/gateway.ts'

/** Ends the block of an address after failed attempts to authenticate. `address`: as it is counted. */
export async function unblock(
  gateway: Gateway,
  { address }: { address: string },
): Promise<{ address: string; wasBlocked: boolean }> {
  return { address, wasBlocked: await gateway.failedAttempts.unblock(address) }
}
