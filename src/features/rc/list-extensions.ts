import { z } from 'zod'
import type { Caller } from '../../core/caller.ts'
import { isoTime } from '../../core/clock.ts'
import { EXTENSION_STATUSES } from '../../db/schema/connections.ts'
import type { Gateway } from '../../gateway.ts'

/** A connected extension as the API returns it. */
export const ConnectedExtension = z.object({
  extensionId: z.string(),
  rcAccountId: z.string(),
  connectedAt: z.string().meta({ format: 'date-time' }),
  status: z.enum(EXTENSION_STATUSES),
  phoneNumbers: z.array(z.string()).meta({ description: 'SMS-capable numbers, E.164' }),
})
export type ConnectedExtension = z.infer<typeof ConnectedExtension>

/** The tenant's connected extensions with their numbers. */
export async function listExtensions(
  gateway: Gateway,
  caller: Pick<Caller, 'tenantId'>,
): Promise<{ extensions: ConnectedExtension[] }> {
  const { extensions, numbers } = await gateway.directory.tenant(caller.tenantId)
  const rows = [...extensions.values()].toSorted((a, b) => a.connectedAt - b.connectedAt)
  return {
    extensions: rows.map((row) => ({
      extensionId: row.extensionId,
      rcAccountId: row.accountId,
      connectedAt: isoTime(row.connectedAt),
      status: row.status,
      phoneNumbers: [...numbers]
        .flatMap(([number, extensionId]) => (extensionId === row.extensionId ? [number] : []))
        .toSorted(),
    })),
  }
}
