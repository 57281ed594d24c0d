import type { Caller } from '../../auth/caller.ts'
import { isoTime } from '../../core/clock.ts'
import { apiError } from '../../core/errors.ts'
import { webhookSecret } from '../../core/secrets.ts'
import type { Gateway } from '../../gateway.ts'
import type { CreateTriggerBody, CreatedTrigger } from './schemas.ts'

/** Subscribes an address to the tenant's inbound messages. Errors: `badCallbackUrl`. */
export async function createTrigger(
  gateway: Gateway,
  caller: Pick<Caller, 'tenantId'>,
  { callbackUrl }: CreateTriggerBody,
): Promise<CreatedTrigger> {
  if (!gateway.guard.accepts(callbackUrl)) throw apiError('badCallbackUrl')
  const triggerId = gateway.ids.of('trg')
  const secret = webhookSecret(gateway.ids.bytes(32))
  const sealed = await gateway.secrets.seal(secret, {
    tenantId: caller.tenantId,
    row: triggerId,
    purpose: 'trigger_secret',
  })
  const now = gateway.clock.now()
  await gateway.database.writer.write([
    {
      sql: 'INSERT INTO triggers (id, tenant_id, callback_url, secret, created_at) VALUES (?1, ?2, ?3, ?4, ?5)',
      args: [triggerId, caller.tenantId, callbackUrl, sealed, now],
    },
  ])
  return { triggerId, callbackUrl, secret, createdAt: isoTime(now) }
}
