import type { z } from 'zod'
import { ApiError } from '../core/errors.ts'
import { connectByJwt } from '../api/rc/connect-by-jwt.ts'
import type { ConnectResult } from '../api/rc/finish-connect.ts'
import type { Gateway } from '../messages/gateway.ts'
import type { ConnectJwtBody, ConnectedByJwt } from './schemas.ts'
import { readTenant } from './tenants.ts'

/** Connects the extension of a JWT to a tenant, or connects it again. Errors: `tenantNotFound`, `conflict` with what to fix. */
export async function connectJwt(
  gateway: Gateway,
  { tenantId, jwt }: z.output<typeof ConnectJwtBody>,
  requestId: string,
): Promise<ConnectedByJwt> {
  await readTenant(gateway, tenantId)
  const result = await connectByJwt(gateway, jwt, { tenantId, requestId })
  if (result.type !== 'connected') throw new ApiError('conflict', problemOf(result))
  // RC_JWT failed to do this, but now it is done.
  const { state } = gateway.configuredJwt
  const isDone = gateway.config.provider.jwt === jwt || ('fix' in state && state.tenantId === tenantId)
  // A JWT that waits is presented again, and it may belong to another extension.
  if (isDone && state.kind !== 'waits') gateway.configuredJwt.state = { kind: 'connected' }
  const { extensionId, name, phoneNumbers, receiving, fixes } = result
  return { tenantId, extensionId, name, phoneNumbers, receiving, fixes }
}

/** A sentence that says what to fix. */
function problemOf(result: Exclude<ConnectResult, { type: 'connected' }>): string {
  if (result.type === 'exchange_failed') return result.fix
  return result.type === 'other_account'
    ? 'The tenant is connected to another RingCentral account: use another tenant'
    : 'The tenant is not active: sgw tenant activate TENANT'
}
