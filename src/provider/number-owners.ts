import { and, eq, inArray, isNull } from 'drizzle-orm'
import { phoneNumbers } from '../db/schema/connections.ts'
import type { Orm } from '../db/orm.ts'
import { isSameNumber } from '../core/phone.ts'
import { type Directory, type NumberRow, type TenantEntry, listedBy } from './directory.ts'
import type { ExtensionKey } from './extension-rows.ts'
import type { StoredSms } from './provider.ts'

// Whose message store has the messages of a number. A call queue's messages are in the queue's store, although its recipient sends them
// (RingCentral developer guide, "Sending SMS"): a listing that does not show them proves nothing.

interface OwnersContext {
  orm: Orm
  directory: Directory
}

/** Whether the number's messages are certainly in the store of the extension that sends them. */
export const isDirect = ({
  usageType,
  ownerId,
  extensionId,
}: Pick<NumberRow, 'usageType' | 'ownerId' | 'extensionId'>): boolean =>
  usageType === 'DirectNumber' && (ownerId === null || ownerId === extensionId)

/** Whether a message of the number was not sent if a listing of this extension lacks it. `ofEveryOwner`: how the listing was requested. */
export function provesAbsence(
  tenant: TenantEntry,
  { number, extensionId, ofEveryOwner }: { number: string; extensionId: string; ofEveryOwner: boolean },
): boolean {
  const row = listedBy(tenant, extensionId, number)
  if (row === undefined) return false
  return isDirect(row) || (ofEveryOwner && row.shownAt !== null)
}

/** Stores that the answer to a send named a different owner of the number. */
export async function noteOwner(
  { orm, directory }: OwnersContext,
  { tenantId, extensionId }: ExtensionKey,
  { number, ownerId }: { number: string; ownerId: string },
): Promise<void> {
  const tenant = directory.known(tenantId)
  const known = tenant === undefined ? undefined : listedBy(tenant, extensionId, number)
  if (ownerId === extensionId || known?.ownerId === ownerId) return
  await orm
    .update(phoneNumbers)
    .set({ ownerId })
    .where(
      and(
        eq(phoneNumbers.tenantId, tenantId),
        eq(phoneNumbers.number, number),
        eq(phoneNumbers.extensionId, extensionId),
      ),
    )
  directory.forget(tenantId)
}

/** Stores which numbers a listing of every owner has shown for the first time. */
export async function noteShown(
  { orm, directory }: OwnersContext,
  { tenantId, extensionId }: ExtensionKey,
  { records, now }: { records: readonly StoredSms[]; now: number },
): Promise<void> {
  const { listed } = await directory.tenant(tenantId)
  const shown = listed
    .filter((row) => row.extensionId === extensionId && row.shownAt === null && !isDirect(row))
    .filter(({ number }) => records.some((record) => isOf(record, number)))
    .map(({ number }) => number)
  if (shown.length === 0) return
  await orm
    .update(phoneNumbers)
    .set({ shownAt: now })
    .where(
      and(
        eq(phoneNumbers.tenantId, tenantId),
        eq(phoneNumbers.extensionId, extensionId),
        inArray(phoneNumbers.number, shown),
        isNull(phoneNumbers.shownAt),
      ),
    )
  directory.forget(tenantId)
}

function isOf({ direction, from, to }: StoredSms, number: string): boolean {
  const own = direction === 'Outbound' ? [from] : to.map(({ phoneNumber }) => phoneNumber)
  return own.some((written) => written !== null && isSameNumber(written, number))
}
