import type { Caller } from '../../core/caller.ts'
import type { Gateway } from '../../messages/gateway.ts'
import { deleteWsTokens, newApiKey } from './credentials.ts'
import { changeApp, requireOwnApp } from './own-app.ts'

/** Gives the app a new key. The old one stops working immediately, and its sockets close. Errors: `appNotFound`. */
export async function rotateKey(
  gateway: Gateway,
  caller: Caller,
  appId: string,
): Promise<{ apiKey: string; apiKeyPrefix: string }> {
  requireOwnApp(caller, appId)
  const { apiKey, apiKeyPrefix, keyHash } = newApiKey(gateway)
  await changeApp(gateway, caller, { keyHash, keyPrefix: apiKeyPrefix }, deleteWsTokens(gateway, appId))
  gateway.hub.revoke({ appId })
  return { apiKey, apiKeyPrefix }
}
