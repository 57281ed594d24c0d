import type { Caller } from '../../auth/caller.ts'
import type { Gateway } from '../../gateway.ts'
import { dropWsTokens, newApiKey } from './credentials.ts'
import { changeApp, demandOwn } from './own-app.ts'

/** Gives the app a new key. The old one stops working at once, and its sockets close. Errors: `appNotFound`. */
export async function rotateKey(
  gateway: Gateway,
  caller: Caller,
  appId: string,
): Promise<{ apiKey: string; apiKeyPrefix: string }> {
  demandOwn(caller, appId)
  const { apiKey, apiKeyPrefix, keyHash } = newApiKey(gateway)
  const statement = {
    sql: `UPDATE apps SET key_hash = ?3, key_prefix = ?4, updated_at = ?5
      WHERE tenant_id = ?1 AND id = ?2 AND is_active = 1 RETURNING id`,
    args: [caller.tenantId, appId, keyHash, apiKeyPrefix, gateway.clock.now()],
  }
  await changeApp(gateway, statement, dropWsTokens(appId))
  gateway.hub.revoke({ appId })
  return { apiKey, apiKeyPrefix }
}
