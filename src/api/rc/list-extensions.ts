import { z } from 'zod'
import { time } from '../fields/answer-fields.ts'
import { ExtensionStatus } from '../fields/named-enums.ts'
import type { Caller } from '../../core/caller.ts'
import { isoTime } from '../../core/clock.ts'
import type { Gateway } from '../../messages/gateway.ts'
import type { ExtensionRow, NumberRow, TenantEntry } from '../../provider/directory.ts'

/** A connected extension as the API returns it. */
export const ConnectedExtension = z
  .object({
    extensionId: z.string().meta({ example: '629890016' }),
    rcAccountId: z.string().meta({ example: '809640016' }),
    connectedAt: time,
    status: ExtensionStatus,
    phoneNumbers: z.array(z.string()).meta({ description: 'SMS-capable numbers, E.164', example: ['+15555550100'] }),
  })
  .meta({ id: 'ConnectedExtension' })
export const ExtensionList = z.object({ extensions: z.array(ConnectedExtension) }).meta({ id: 'ExtensionList' })
export type ConnectedExtension = z.infer<typeof ConnectedExtension>

/** The tenant's connected extensions with their numbers. */
export async function listExtensions(
  gateway: Gateway,
  caller: Pick<Caller, 'tenantId'>,
): Promise<{ extensions: ConnectedExtension[] }> {
  const tenant = await gateway.directory.tenant(caller.tenantId)
  return {
    extensions: longestConnectedFirst(tenant).map((row) => ({
      extensionId: row.extensionId,
      rcAccountId: row.accountId,
      connectedAt: isoTime(row.connectedAt),
      status: row.status,
      phoneNumbers: numbersOf(tenant, row).map(({ number }) => number),
    })),
  }
}

export const longestConnectedFirst = ({ extensions }: TenantEntry): ExtensionRow[] =>
  [...extensions.values()].toSorted((a, b) => a.connectedAt - b.connectedAt)

export const numbersOf = ({ listed }: TenantEntry, { extensionId }: ExtensionRow): NumberRow[] =>
  listed.filter((row) => row.extensionId === extensionId).toSorted((one, other) => (one.number < other.number ? -1 : 1))
