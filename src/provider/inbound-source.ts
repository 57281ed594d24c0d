import type { InboundSource } from '../db/schema/connections.ts'
import type { Directory, NumberRow, TenantEntry } from './directory.ts'
import type { CallResult } from './extension-calls.ts'
import type { ExtensionKey } from './extension-rows.ts'
import type { SmsNumber } from './listed-numbers.ts'
import type { ThreadsFeature } from './message-threads.ts'
import { isDirect } from './number-owners.ts'

// Which of the provider's stores has the inbound texts of a number: with the feature MessageThreads (Shared Inbox), texts to numbers that
// several users share are in message threads, and in no message store (RingCentral developer guide, "Migration Guide" of threads).

/** Numbers of the company, of a site and of an IVR menu, in the provider's words. */
const SITE_USES: readonly string[] = ['MainCompanyNumber', 'AdditionalCompanyNumber', 'CompanyNumber']
const SITE_OWNERS: readonly string[] = ['Site', 'IvrMenu', 'Company']

/**
 * The part of the feature that decides about a number; null for a number of one user. `known`: its stored row, because a list may omit the
 * owner.
 */
export function sharedBy(
  { usageType, ownerType, ownerId }: SmsNumber,
  known: NumberRow | undefined,
  extensionId: string,
): keyof ThreadsFeature | null {
  if (SITE_USES.includes(usageType ?? '')) return 'ofSites'
  const isOwn = [ownerId, known?.ownerId ?? null].every((owner) => isDirect({ usageType, ownerId: owner, extensionId }))
  if (usageType !== 'DirectNumber' || isOwn) return null
  return SITE_OWNERS.includes(ownerType ?? '') ? 'ofSites' : 'ofQueues'
}

/** Null: the provider could not be asked, so the source stays as it was. A provider that refuses to name its features has none. */
export function sourceFor(
  shared: keyof ThreadsFeature | null,
  feature: CallResult<ThreadsFeature>,
): InboundSource | null {
  if (shared === null) return 'store'
  if (feature.type === 'ok') return feature.value[shared] ? 'threads' : 'store'
  return feature.type === 'failed' && feature.failure.reason === 'rejected' ? 'store' : null
}

/** Inbound messages up to this long after a change count as before it: the change was noticed late, by a different clock. */
const MARGIN_MS = 10_000

/** This long after a change its messages are read: the margin is over, and the provider's lists have them. */
export const CHANGE_SETTLE_MS = 45_000

/** The end of the period whose messages either source may have, by the provider's clock; null if it never changed. */
const changedUntil = ({ sourceChangedAt }: NumberRow): number | null =>
  sourceChangedAt === null ? null : sourceChangedAt + MARGIN_MS

const sourceOf = ({ inboundSource }: NumberRow): InboundSource => inboundSource ?? 'store'

/** The tenant's rows for the extension's numbers: each row is that of the extension that sends for the number. */
export const numbersOf = ({ listed, numbers }: TenantEntry, { extensionId }: ExtensionKey): NumberRow[] =>
  listed.filter((row) => row.extensionId === extensionId).map((row) => numbers.get(row.number) ?? row)

export const hasThreads = (tenant: TenantEntry, key: ExtensionKey): boolean =>
  numbersOf(tenant, key).some((row) => sourceOf(row) === 'threads')

/** Whether the extension has threads that the provider does not refuse. */
export const hasReadableThreads = (
  directory: Directory,
  tenant: TenantEntry,
  key: ExtensionKey,
  now: number,
): boolean => numbersOf(tenant, key).some((row) => placeOf(directory, row, now) === 'threads')

/** Where to read texts to a number: nowhere if the provider refuses its threads. */
export type InboundPlace = 'here' | 'threads' | 'elsewhere'

export function placeOf({ refusals }: Directory, row: NumberRow, now: number): InboundPlace {
  if (sourceOf(row) === 'store') return 'here'
  const isRefused = refusals
    .of(row, now)
    .some(({ step, failure }) => step === 'threads' && failure.reason === 'rejected')
  return isRefused ? 'elsewhere' : 'threads'
}

/**
 * Whether messages from that source count for the number. Before a change, both sources count. If the threads may not be read, texts from the
 * store are better than nothing.
 */
export function counts(
  directory: Directory,
  row: NumberRow | undefined,
  { source, createdAt, now }: { source: InboundSource; createdAt: number; now: number },
): boolean {
  if (row === undefined || sourceOf(row) === source) return true
  return isFromBefore(row, createdAt) || placeOf(directory, row, now) === 'elsewhere'
}

/** Whether a message is from before a change of the number's source, so that both may have it. */
export const isFromBefore = (row: NumberRow | undefined, createdAt: number): boolean =>
  row !== undefined && createdAt < (changedUntil(row) ?? -Infinity)
