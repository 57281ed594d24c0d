import type { Caller } from '../../core/caller.ts'
import type { Gateway } from '../../messages/gateway.ts'
import { newWebhookSecret } from './credentials.ts'
import { changeApp, requireOwnApp } from './own-app.ts'

/** Gives the app a new webhook secret, which signs all later deliveries. Errors: `appNotFound`. */
export async function rotateWebhookSecret(
  gateway: Gateway,
  caller: Caller,
  appId: string,
): Promise<{ webhookSecret: string }> {
  requireOwnApp(caller, appId)
  const { secret, encrypted } = await newWebhookSecret(gateway, caller.tenantId, appId)
  await changeApp(gateway, caller, { webhookSecret: encrypted })
  return { webhookSecret: secret }
}
