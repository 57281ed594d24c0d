import type { ExtensionStatus } from '../../db/schema/connections.ts'
import type { Gateway } from '../../messages/gateway.ts'
import type { Trouble } from '../../messages/upkeep/extension-trouble.ts'
import type { ExtensionRow } from '../../provider/directory.ts'
import { type ExtensionKey, nameOf } from '../../provider/extension-rows.ts'
import type { Condition } from './condition.ts'

/** Makes a condition of an extension's trouble, in the words of its health. `state` and `over` follow the extension's name. */
export function conditionOfExtension(
  { tenantId, extensionId, extensionNumber = null }: ExtensionKey & Partial<Pick<ExtensionRow, 'extensionNumber'>>,
  { reason, fix, since }: Trouble,
  state: string,
  over: string,
): Condition {
  const name = `Extension ${extensionId} of ${tenantId}`
  return {
    subject: nameOf({ tenantId, extensionId }),
    what: `${name} ${state}. ${reason}`,
    fix,
    overText: `Resolved: ${name} ${over}.`,
    detail: { tenantId, extensionId, ...(extensionNumber === null ? {} : { extensionNumber }), reason, fix },
    since,
  }
}

/** What is known of an extension, with the status that was read now; null if it is gone. */
export async function rowOf(
  { directory }: Gateway,
  { tenantId, extensionId }: ExtensionKey,
  status: ExtensionStatus,
): Promise<ExtensionRow | null> {
  const row = await directory.extension(tenantId, extensionId)
  return row && { ...row, status }
}
