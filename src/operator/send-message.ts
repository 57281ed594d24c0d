import { and, eq, inArray } from 'drizzle-orm'
import type { z } from 'zod'
import type { Caller } from '../core/caller.ts'
import { ApiError } from '../core/errors.ts'
import { phoneNumbers } from '../db/schema/connections.ts'
import { apps, tenants } from '../db/schema/tenants.ts'
import { getStatus } from '../api/sms/get-status.ts'
import type { MessageState } from '../api/sms/message.ts'
import { type Posted, notify } from '../api/sms/notify.ts'
import type { Notified } from '../api/sms/schemas.ts'
import { send } from '../api/sms/send.ts'
import type { Gateway } from '../messages/gateway.ts'
import type { NotifyAsQuery, SendMessageBody } from './schemas.ts'

/** Sends a message for an app; without `appId`, for the oldest active app of the tenant that owns the number. */
export async function sendMessage(gateway: Gateway, input: z.output<typeof SendMessageBody>): Promise<MessageState> {
  const caller = await findSender(gateway, input.message.from, input.appId)
  const { messageId } = await send(gateway, caller, input.message, null)
  return getStatus(gateway, caller, messageId)
}

/** Sends a text made from a tool's JSON, for the same app. */
export async function sendNotice(
  gateway: Gateway,
  { appId, ...notice }: z.output<typeof NotifyAsQuery>,
  posted: Posted,
): Promise<Notified> {
  const { messages } = await notify(gateway, await findSender(gateway, notice.from, appId), notice, posted, null)
  return { messages }
}

/** The app that sends from a number: the named one, or the oldest active one of the tenant that owns the number. */
export async function findSender(gateway: Gateway, from: string, appId: string | undefined): Promise<Caller> {
  const { orm } = gateway.database
  const owners = orm.select({ tenantId: phoneNumbers.tenantId }).from(phoneNumbers).where(eq(phoneNumbers.number, from))
  const isMeant = appId === undefined ? inArray(apps.tenantId, owners) : eq(apps.id, appId)
  const found = await orm
    .select({ appId: apps.id, tenantId: apps.tenantId })
    .from(apps)
    .innerJoin(tenants, eq(tenants.id, apps.tenantId))
    .where(and(isMeant, eq(apps.isActive, true), eq(tenants.status, 'active')))
    .orderBy(apps.createdAt, apps.seq)
  const [first] = found
  if (first === undefined)
    throw new ApiError(
      'not_found',
      appId === undefined
        ? `No tenant with an active app has ${from} connected: list the numbers with sgw extensions list, or name an app with --app APP`
        : `There is no active app ${appId}`,
    )
  if (found.some(({ tenantId }) => tenantId !== first.tenantId))
    throw new ApiError('conflict', `Several tenants own ${from}: name the app with --app APP`)
  return first
}
