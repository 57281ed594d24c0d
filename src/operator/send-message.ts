import type { z } from 'zod'
import type { Caller } from '../core/caller.ts'
import { ApiError } from '../core/errors.ts'
import { getStatus } from '../features/sms/get-status.ts'
import type { MessageState } from '../features/sms/message.ts'
import { send } from '../features/sms/send.ts'
import type { Gateway } from '../gateway.ts'
import type { SendMessageBody } from './schemas.ts'

/** Sends a message for an app; without `appId`, for the oldest active app of the tenant that owns the number. */
export async function sendMessage(gateway: Gateway, input: z.output<typeof SendMessageBody>): Promise<MessageState> {
  const caller = await findCaller(gateway, input.message.from, input.appId)
  const { messageId } = await send(gateway, caller, input.message, null)
  return getStatus(gateway, caller, messageId)
}

async function findCaller(gateway: Gateway, from: string, appId: string | undefined): Promise<Caller> {
  const { rows } = await gateway.database.gate.execute({
    sql: `SELECT apps.id, apps.tenant_id FROM apps JOIN tenants ON tenants.id = apps.tenant_id AND tenants.status = 'active'
      WHERE apps.is_active = 1 AND (apps.id = ?1 OR (?1 IS NULL AND apps.tenant_id IN (SELECT tenant_id FROM phone_numbers WHERE number = ?2)))
      ORDER BY apps.created_at, apps.seq`,
    args: [appId ?? null, from],
  })
  const [first] = rows
  if (first === undefined)
    throw new ApiError(
      'not_found',
      appId === undefined
        ? `No tenant with an active app has ${from} connected: list the numbers with sgw extensions list, or name an app with --app APP`
        : `There is no active app ${appId}`,
    )
  const owners = new Set(rows.map((row) => String(row['tenant_id'])))
  if (owners.size > 1) throw new ApiError('conflict', `Several tenants own ${from}: name the app with --app APP`)
  return { appId: String(first['id']), tenantId: String(first['tenant_id']) }
}
