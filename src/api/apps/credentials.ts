import { eq } from 'drizzle-orm'
import { webhookSecret } from '../../core/secrets.ts'
import { wsTokens } from '../../db/schema/webhooks.ts'
import { secretContextOf } from '../../messages/webhooks/delivery.ts'
import type { Gateway } from '../../messages/gateway.ts'

const PREFIX_LENGTH = 12

/** A new API key: shown once, stored as an HMAC. */
export function newApiKey(gateway: Gateway): { apiKey: string; apiKeyPrefix: string; keyHash: string } {
  const apiKey = `sgw_${gateway.ids.secret()}`
  return { apiKey, apiKeyPrefix: apiKey.slice(0, PREFIX_LENGTH), keyHash: gateway.secrets.hash(apiKey) }
}

/** A new webhook secret: shown once. It is stored encrypted, not hashed, because deliveries are signed with it. */
export async function newWebhookSecret(
  gateway: Gateway,
  tenantId: string,
  appId: string,
): Promise<{ secret: string; encrypted: string }> {
  const secret = webhookSecret(gateway.ids.bytes(32))
  return {
    secret,
    encrypted: await gateway.secrets.encrypt(secret, secretContextOf(tenantId, { kind: 'app', targetId: appId })),
  }
}

export const openWebhookSecret = (
  gateway: Gateway,
  tenantId: string,
  appId: string,
  encrypted: string,
): Promise<string> => gateway.secrets.decrypt(encrypted, secretContextOf(tenantId, { kind: 'app', targetId: appId }))

/** Deletes the WebSocket tokens of an app. Without this, a token fetched with a revoked key could still open a socket. */
export const deleteWsTokens = ({ database }: Gateway, appId: string) =>
  database.orm.delete(wsTokens).where(eq(wsTokens.appId, appId))
