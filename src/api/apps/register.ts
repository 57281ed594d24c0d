import { eq } from 'drizzle-orm'
import type { Caller } from '../../core/caller.ts'
import { apiError, limitReached } from '../../core/errors.ts'
import { tenants } from '../../db/schema/tenants.ts'
import type { Gateway } from '../../messages/gateway.ts'
import { newApiKey, newWebhookSecret } from './credentials.ts'
import type { RegisterBody, Registered } from './schemas.ts'

/**
 * Creates an app. `caller` is null for the operator, who may create apps for any tenant.
 * Errors: `tenantNotActive`, `forbidden` (another existing tenant), `badWebhookUrl`, `conflict` at the tenant's limit.
 */
export async function register(gateway: Gateway, caller: Caller | null, input: RegisterBody): Promise<Registered> {
  if (input.webhookUrl !== null && !gateway.guard.accepts(input.webhookUrl)) throw apiError('badWebhookUrl')
  await requireTenant(gateway, caller, input.tenantId)
  const appId = gateway.ids.of('app')
  const { apiKey, apiKeyPrefix, keyHash } = newApiKey(gateway)
  const { secret, encrypted } = await newWebhookSecret(gateway, input.tenantId, appId)
  const now = gateway.clock.now()
  const max = gateway.config.maxAppsPerTenant
  const [inserted] = await gateway.database.writer.write([
    {
      sql: `INSERT INTO apps (id, tenant_id, name, webhook_url, role, is_active, key_hash, key_prefix, webhook_secret, created_at, updated_at,
          registered_by)
        SELECT ?1, ?2, ?3, ?4, 'app', 1, ?5, ?6, ?7, ?8, ?8, ?9
        WHERE (${COUNT_ACTIVE_APPS}) < ?10 RETURNING id`,
      args: [
        appId,
        input.tenantId,
        input.name,
        input.webhookUrl,
        keyHash,
        apiKeyPrefix,
        encrypted,
        now,
        caller?.appId ?? null,
        max,
      ],
    },
  ])
  if (inserted?.rows.length === 0) throw limitReached(max, 'apps')
  return { appId, name: input.name, apiKey, apiKeyPrefix, webhookSecret: secret, role: 'app', tenantId: input.tenantId }
}

/** The INSERT itself counts, so two requests cannot both take the last free slot. `?2` is the tenant. */
const COUNT_ACTIVE_APPS = 'SELECT count(*) FROM apps WHERE tenant_id = ?2 AND is_active = 1'

async function requireTenant(gateway: Gateway, caller: Caller | null, tenantId: string): Promise<void> {
  const { orm } = gateway.database
  const [tenant] = await orm.select({ status: tenants.status }).from(tenants).where(eq(tenants.id, tenantId))
  if (tenant?.status !== 'active') throw apiError('tenantNotActive')
  if (caller !== null && caller.tenantId !== tenantId) throw apiError('forbidden')
}
