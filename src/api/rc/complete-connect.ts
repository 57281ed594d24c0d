import type { Gateway } from '../../messages/gateway.ts'
import { redirectUri } from './connect.ts'
import { type ConnectResult, exchangeFailed, finishConnect } from './finish-connect.ts'
import { consumeState, logRefusedState } from './oauth-state.ts'

/** The result of a login. */
export type LoginResult =
  | Exclude<ConnectResult, { type: 'tenant_not_active' }>
  /** Unknown, used, expired, or its tenant is not active. */
  | { type: 'bad_state' }
  /** Connected by an earlier callback with the same state. */
  | { type: 'connected_before' }

/** The fields of the provider's redirect. */
export interface CallbackInput {
  code: string
  state: string
  /** Id of this request, for the log. */
  requestId: string
}

/** Finishes an authorization by a person: exchanges the code, and connects the extension. */
export async function completeConnect(
  gateway: Gateway,
  { code, state, requestId }: CallbackInput,
): Promise<LoginResult> {
  const consumed = await consumeState(gateway, state)
  if (consumed === null) {
    const hasConnected = await logRefusedState(gateway, state, requestId)
    return { type: hasConnected ? 'connected_before' : 'bad_state' }
  }
  const { tenantId, codeVerifier } = consumed
  const context = { tenantId, requestId }
  const exchanged = await gateway.provider.exchangeCode({ code, codeVerifier, redirectUri: redirectUri(gateway) })
  if (!exchanged.ok) return loginResult(exchangeFailed(gateway, context, 'authorization', exchanged.failure))
  return loginResult(await finishConnect(gateway, context, exchanged.value, { state: consumed }))
}

/** A person in a browser learns nothing about the tenant. */
const loginResult = (result: ConnectResult): LoginResult =>
  result.type === 'tenant_not_active' ? { type: 'bad_state' } : result
