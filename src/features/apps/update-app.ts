import type { Caller } from '../../auth/caller.ts'
import { apiError } from '../../core/errors.ts'
import type { Gateway } from '../../gateway.ts'
import { changeApp, demandOwn } from './own-app.ts'
import type { UpdateBody } from './schemas.ts'

/** Sets or removes the webhook address, or deactivates the app. Errors: `appNotFound`, `badWebhookUrl`. */
export async function updateApp(
  gateway: Gateway,
  caller: Caller,
  appId: string,
  input: UpdateBody,
): Promise<{ ok: true }> {
  demandOwn(caller, appId)
  const { webhookUrl } = input
  if (typeof webhookUrl === 'string' && !gateway.guard.accepts(webhookUrl)) throw apiError('badWebhookUrl')
  if (webhookUrl === undefined && input.isActive !== false) return { ok: true }
  const deactivates = input.isActive === false
  await changeApp(gateway, {
    sql: `UPDATE apps SET webhook_url = CASE WHEN ?3 THEN ?4 ELSE webhook_url END,
        is_active = is_active AND NOT ?5, updated_at = ?6
      WHERE tenant_id = ?1 AND id = ?2 AND is_active = 1 RETURNING id`,
    args: [
      caller.tenantId,
      appId,
      webhookUrl === undefined ? 0 : 1,
      webhookUrl ?? null,
      deactivates ? 1 : 0,
      gateway.clock.now(),
    ],
  })
  if (deactivates) gateway.hub.revoke({ appId })
  return { ok: true }
}

/** Deactivates the app. Its key stops working at once; its row stays. Errors: `appNotFound`. */
export const deactivateApp = (gateway: Gateway, caller: Caller, appId: string): Promise<{ ok: true }> =>
  updateApp(gateway, caller, appId, { isActive: false })
