import type { Caller } from '../../auth/caller.ts'
import type { Gateway } from '../../gateway.ts'
import { newWebhookSecret } from './credentials.ts'
import { changeApp, demandOwn } from './own-app.ts'

/** Gives the app a new webhook secret, which signs all later deliveries. Errors: `appNotFound`. */
export async function rotateWebhookSecret(
  gateway: Gateway,
  caller: Caller,
  appId: string,
): Promise<{ webhookSecret: string }> {
  demandOwn(caller, appId)
  const { secret, sealed } = await newWebhookSecret(gateway, caller.tenantId, appId)
  await changeApp(gateway, {
    sql: `UPDATE apps SET webhook_secret = ?3, updated_at = ?4 WHERE tenant_id = ?1 AND id = ?2 AND is_active = 1 RETURNING id`,
    args: [caller.tenantId, appId, sealed, gateway.clock.now()],
  })
  return { webhookSecret: secret }
}
