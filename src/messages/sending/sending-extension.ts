import { MESSAGE_FAILURES, type MessageFailure, unknownNumber } from '../../core/message-failure.ts'
import type { NumberRow, TenantEntry } from '../../provider/directory.ts'
import { isTokenUsable } from '../../provider/refresh-policy.ts'
import type { SendingContext } from './context.ts'
import type { MovedNumber } from './number-queue.ts'

/**
 * The extension that sends for a number of a tenant.
 * - `ready`: this extension can send now.
 * - `wait`: none can send now. The tenant's queues are woken when the reason ends. `token`: the access token must be refreshed.
 * - `missing`: no usable extension is known to have the number. This is final only after a new number lookup.
 * - `failed`: none can send, and no lookup can help.
 */
export type Sender =
  | { type: 'ready'; extensionId: string }
  | { type: 'wait'; reason: 'suspended' | 'loading' | 'disconnecting' }
  | { type: 'wait'; reason: 'token'; extensionId: string }
  | { type: 'missing'; failure: MessageFailure }
  | { type: 'failed'; failure: MessageFailure }

type Known = Pick<SendingContext, 'directory' | 'clock' | 'quota'>

/** Finds the sender in memory; `loading` if the tenant is not in memory. `moved`: what the provider said about this message. */
export function senderOf(
  { directory, clock, quota }: Known,
  tenantId: string,
  number: string,
  moved: MovedNumber | null = null,
): Sender {
  const tenant = directory.known(tenantId)
  if (tenant === undefined) return { type: 'wait', reason: 'loading' }
  if (tenant.status !== 'active') return { type: 'wait', reason: 'suspended' }
  const extensionId = extensionFor(tenant, number, moved)
  if (directory.isDisconnecting(tenantId, extensionId)) return { type: 'wait', reason: 'disconnecting' }
  const extension = tenant.extensions.get(extensionId ?? '')
  if (extension !== undefined && extension.status !== 'revoked')
    return isTokenUsable(extension, { clock, quota })
      ? { type: 'ready', extensionId: extension.extensionId }
      : { type: 'wait', reason: 'token', extensionId: extension.extensionId }
  const failure = extension === undefined ? unknownNumber(number) : MESSAGE_FAILURES.revoked
  if (isConnected(tenant)) return { type: 'missing', failure }
  return { type: 'failed', failure: extension === undefined ? MESSAGE_FAILURES.notConnected : failure }
}

/**
 * The extension whose turn it is to send for a number; null if none lists it. If the provider has said that the number does not belong to one
 * extension, others that list it go first.
 */
export function extensionFor(tenant: TenantEntry, number: string, moved: MovedNumber | null = null): string | null {
  const isOther = ({ extensionId }: NumberRow): boolean =>
    moved?.extensionIds.includes(extensionId) === false && tenant.extensions.get(extensionId)?.status !== 'revoked'
  const other = moved === null ? undefined : tenant.listed.find((row) => row.number === number && isOther(row))
  return (other ?? tenant.numbers.get(number))?.extensionId ?? null
}

const isConnected = (tenant: TenantEntry): boolean =>
  tenant.extensions.values().some(({ status }) => status !== 'revoked')
