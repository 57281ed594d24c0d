import { eq } from 'drizzle-orm'
import { apiError } from '../../core/errors.ts'
import { tenants } from '../../db/schema/tenants.ts'
import type { Gateway } from '../../gateway.ts'
import { newApiKey, newWebhookSecret } from './credentials.ts'
import type { RegisterBody, Registered } from './schemas.ts'

/**
 * Makes an app. `callerTenantId` is the key's tenant, or null for the operator, who may make apps for any tenant.
 * Errors: `tenantNotActive`, `forbidden` (another existing tenant), `badWebhookUrl`.
 */
export async function register(
  gateway: Gateway,
  callerTenantId: string | null,
  input: RegisterBody,
): Promise<Registered> {
  if (input.webhookUrl !== null && !gateway.guard.accepts(input.webhookUrl)) throw apiError('badWebhookUrl')
  await demandTenant(gateway, callerTenantId, input.tenantId)
  const appId = gateway.ids.of('app')
  const { apiKey, apiKeyPrefix, keyHash } = newApiKey(gateway)
  const { secret, sealed } = await newWebhookSecret(gateway, input.tenantId, appId)
  const now = gateway.clock.now()
  await gateway.database.writer.write([
    {
      sql: `INSERT INTO apps (id, tenant_id, name, webhook_url, role, is_active, key_hash, key_prefix, webhook_secret, created_at, updated_at)
        VALUES (?1, ?2, ?3, ?4, 'app', 1, ?5, ?6, ?7, ?8, ?8)`,
      args: [appId, input.tenantId, input.name, input.webhookUrl, keyHash, apiKeyPrefix, sealed, now],
    },
  ])
  return { appId, name: input.name, apiKey, apiKeyPrefix, webhookSecret: secret, role: 'app', tenantId: input.tenantId }
}

async function demandTenant(gateway: Gateway, callerTenantId: string | null, tenantId: string): Promise<void> {
  const { reads } = gateway.database
  const [tenant] = await reads.select({ status: tenants.status }).from(tenants).where(eq(tenants.id, tenantId))
  if (tenant?.status !== 'active') throw apiError('tenantNotActive')
  if (callerTenantId !== null && callerTenantId !== tenantId) throw apiError('forbidden')
}
