import { seenFault } from '../../core/jwt.ts'
import type { Gateway } from '../../messages/gateway.ts'
import { providerNow } from '../../provider/provider-time.ts'
import { meansRevoked } from '../../provider/refresh-policy.ts'
import { type AuthorizationContext, type ConnectResult, exchangeFailed, finishConnect } from './finish-connect.ts'

/** Connects the extension of a JWT, which needs no person and no address of this gateway. `jwt` has no spaces. */
export async function connectByJwt(
  gateway: Gateway,
  jwt: string,
  context: AuthorizationContext,
): Promise<ConnectResult> {
  const exchanged = await gateway.provider.exchangeJwt(jwt)
  if (!exchanged.ok) {
    const { failure } = exchanged
    const seen = meansRevoked(failure) ? seenFault(jwt, providerNow(gateway)) : null
    return exchangeFailed(gateway, context, 'jwt', failure, seen)
  }
  return finishConnect(gateway, context, exchanged.value, { jwt })
}
