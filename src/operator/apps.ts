import { z } from 'zod'
import { ApiError } from '../core/errors.ts'
import { APP_ID } from '../core/ids.ts'
import type { App } from '../features/apps/app.ts'
import { dropWsTokens, newApiKey } from '../features/apps/credentials.ts'
import { listApps } from '../features/apps/list-apps.ts'
import { register } from '../features/apps/register.ts'
import type { RegisterBody, Registered } from '../features/apps/schemas.ts'
import type { Gateway } from '../gateway.ts'
import { readTenant, tenantId } from './tenants.ts'

export const ListApps = z.object({ tenantId })
export const ActivateApp = z.object({ appId: z.string().regex(APP_ID, 'Invalid appId format') })

export const createApp = (gateway: Gateway, input: z.output<typeof RegisterBody>): Promise<Registered> =>
  register(gateway, null, input)

export async function listTenantApps(gateway: Gateway, input: z.output<typeof ListApps>): Promise<App[]> {
  await readTenant(gateway, input.tenantId)
  return (await listApps(gateway, input)).apps
}

/** Brings a deactivated app back, with a new key; also the way out when a key is lost. */
export async function activateApp(
  gateway: Gateway,
  { appId }: z.output<typeof ActivateApp>,
): Promise<{ appId: string; apiKey: string; apiKeyPrefix: string }> {
  const { apiKey, apiKeyPrefix, keyHash } = newApiKey(gateway)
  const [updated] = await gateway.database.writer.write([
    {
      sql: 'UPDATE apps SET is_active = 1, key_hash = ?2, key_prefix = ?3, updated_at = ?4 WHERE id = ?1 RETURNING id',
      args: [appId, keyHash, apiKeyPrefix, gateway.clock.now()],
    },
    dropWsTokens(appId),
  ])
  if (updated?.rows.length === 0)
    throw new ApiError('not_found', `There is no app ${appId}: list them with: sgw app list --tenant TENANT`)
  gateway.keys.forget()
  gateway.hub.revoke({ appId })
  return { appId, apiKey, apiKeyPrefix }
}
