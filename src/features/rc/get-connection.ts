import { z } from 'zod'
import type { Caller } from '../../core/caller.ts'
import { isoTime } from '../../core/clock.ts'
import type { Gateway } from '../../gateway.ts'

export const ConnectionStatus = z.union([
  z.object({
    connected: z.literal(true),
    expiresAt: z
      .string()
      .meta({ format: 'date-time', description: 'When the first of the refresh tokens expires if it is not renewed' }),
    rcAccountId: z.string(),
  }),
  z.object({ connected: z.literal(false) }),
])
export type ConnectionStatus = z.infer<typeof ConnectionStatus>

/** A tenant is connected if at least one of its extensions is not revoked. */
export async function getConnection(gateway: Gateway, caller: Caller): Promise<ConnectionStatus> {
  const { extensions } = await gateway.directory.tenant(caller.tenantId)
  const live = [...extensions.values()].filter((row) => row.status !== 'revoked')
  const [first] = live
  if (first === undefined) return { connected: false }
  const expiresAt = Math.min(...live.map((row) => row.refreshExpiresAt))
  return { connected: true, expiresAt: isoTime(expiresAt), rcAccountId: first.accountId }
}
