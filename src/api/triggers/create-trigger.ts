import type { Caller } from '../../core/caller.ts'
import { isoTime } from '../../core/clock.ts'
import { apiError, limitReached } from '../../core/errors.ts'
import { webhookSecret } from '../../core/secrets.ts'
import { secretContextOf } from '../../messages/webhooks/delivery.ts'
import type { Gateway } from '../../messages/gateway.ts'
import type { CreateTriggerBody, CreatedTrigger } from './schemas.ts'

/** Subscribes an address to the tenant's inbound messages. Errors: `badCallbackUrl`, `conflict` at the tenant's limit. */
export async function createTrigger(
  gateway: Gateway,
  caller: Pick<Caller, 'tenantId'>,
  { callbackUrl }: CreateTriggerBody,
): Promise<CreatedTrigger> {
  if (!gateway.guard.accepts(callbackUrl)) throw apiError('badCallbackUrl')
  const triggerId = gateway.ids.of('trg')
  const secret = webhookSecret(gateway.ids.bytes(32))
  const context = secretContextOf(caller.tenantId, { kind: 'trigger', targetId: triggerId })
  const encrypted = await gateway.secrets.encrypt(secret, context)
  const now = gateway.clock.now()
  const max = gateway.config.maxTriggersPerTenant
  const [inserted] = await gateway.database.writer.write([
    {
      // The INSERT itself counts, so two requests cannot both take the last free slot.
      sql: `INSERT INTO triggers (id, tenant_id, callback_url, secret, created_at) SELECT ?1, ?2, ?3, ?4, ?5
        WHERE (SELECT count(*) FROM triggers WHERE tenant_id = ?2) < ?6 RETURNING id`,
      args: [triggerId, caller.tenantId, callbackUrl, encrypted, now, max],
    },
  ])
  if (inserted?.rows.length === 0) throw limitReached(max, 'triggers')
  return { triggerId, callbackUrl, secret, createdAt: isoTime(now) }
}
