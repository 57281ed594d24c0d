import { z } from 'zod'
import { countedAddress, parseAddress } from '../auth/client-address.ts'
import type { Gateway } from '../gateway.ts'

const address = z.string().transform((text, context) => {
  const parsed = parseAddress(text.trim().replace(/\/64$/, ''))
  if (parsed !== null) return countedAddress(parsed)
  context.addIssue({ code: 'custom', message: `${text} is no IP address` })
  return z.NEVER
})

export const Unblock = z.object({ address })

/** Ends the block of an address after failed attempts to authenticate. */
export async function unblock(
  gateway: Gateway,
  input: z.output<typeof Unblock>,
): Promise<{ address: string; wasBlocked: boolean }> {
  return { address: input.address, wasBlocked: await gateway.failedAttempts.unblock(input.address) }
}
