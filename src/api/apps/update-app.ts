import type { Caller } from '../../core/caller.ts'
import { apiError } from '../../core/errors.ts'
import type { Gateway } from '../../messages/gateway.ts'
import { changeApp, requireOwnApp } from './own-app.ts'
import type { UpdateBody } from './schemas.ts'

/** Sets or removes the webhook address, or deactivates the app. Errors: `appNotFound`, `badWebhookUrl`. */
export async function updateApp(
  gateway: Gateway,
  caller: Caller,
  appId: string,
  input: UpdateBody,
): Promise<{ ok: true }> {
  requireOwnApp(caller, appId)
  const { webhookUrl } = input
  if (typeof webhookUrl === 'string' && !gateway.guard.accepts(webhookUrl)) throw apiError('badWebhookUrl')
  if (webhookUrl === undefined && input.isActive !== false) return { ok: true }
  const deactivates = input.isActive === false
  await changeApp(gateway, caller, {
    ...(webhookUrl === undefined ? {} : { webhookUrl }),
    ...(deactivates ? { isActive: false } : {}),
  })
  if (deactivates) gateway.hub.revoke({ appId })
  return { ok: true }
}

/** Deactivates the app. Its key stops working immediately; its row stays. Errors: `appNotFound`. */
export const deactivateApp = (gateway: Gateway, caller: Caller, appId: string): Promise<{ ok: true }> =>
  updateApp(gateway, caller, appId, { isActive: false })
