import { MESSAGE_FAILURES, type MessageFailure, unknownNumber } from '../../core/message-failure.ts'
import type { TenantEntry } from '../../provider/directory.ts'
import { isTokenUsable } from '../../provider/refresh-policy.ts'
import type { SendingContext } from './context.ts'

/**
 * The extension that sends for a number of a tenant.
 * - `ready`: this extension can send now.
 * - `wait`: none can send now. The tenant's queues are woken when the reason ends. `token`: the access token must be refreshed.
 * - `missing`: no usable extension is known to have the number. This is final only after a new number lookup.
 * - `failed`: none can send, and no lookup can help.
 */
export type Sender =
  | { type: 'ready'; extensionId: string }
  | { type: 'wait'; reason: 'suspended' | 'token' | 'loading' | 'disconnecting' }
  | { type: 'missing'; failure: MessageFailure }
  | { type: 'failed'; failure: MessageFailure }

type Known = Pick<SendingContext, 'directory' | 'clock'>

/** Finds the sender in memory; `loading` if the tenant is not in memory. */
export function senderOf({ directory, clock }: Known, tenantId: string, number: string): Sender {
  const tenant = directory.known(tenantId)
  if (tenant === undefined) return { type: 'wait', reason: 'loading' }
  if (tenant.status !== 'active') return { type: 'wait', reason: 'suspended' }
  const extensionId = tenant.numbers.get(number)?.extensionId ?? null
  if (directory.isDisconnecting(tenantId, extensionId)) return { type: 'wait', reason: 'disconnecting' }
  const extension = tenant.extensions.get(extensionId ?? '')
  if (extension !== undefined && extension.status !== 'revoked')
    return isTokenUsable(extension, clock.now())
      ? { type: 'ready', extensionId: extension.extensionId }
      : { type: 'wait', reason: 'token' }
  const failure = extension === undefined ? unknownNumber(number) : MESSAGE_FAILURES.revoked
  if (isConnected(tenant)) return { type: 'missing', failure }
  return { type: 'failed', failure: extension === undefined ? MESSAGE_FAILURES.notConnected : failure }
}

const isConnected = (tenant: TenantEntry): boolean =>
  tenant.extensions.values().some(({ status }) => status !== 'revoked')
