import { and, eq } from 'drizzle-orm'
import type { Caller } from '../../core/caller.ts'
import { apiError } from '../../core/errors.ts'
import { messages } from '../../db/schema/messages.ts'
import type { Gateway } from '../../messages/gateway.ts'
import { type MessageState, messageState } from './message.ts'

/** One message of the caller's tenant. Errors: `messageNotFound`. */
export async function getStatus(
  gateway: Gateway,
  caller: Pick<Caller, 'tenantId'>,
  messageId: string,
): Promise<MessageState> {
  const [row] = await gateway.database.orm
    .select()
    .from(messages)
    .where(and(eq(messages.tenantId, caller.tenantId), eq(messages.id, messageId)))
  if (row === undefined) throw apiError('messageNotFound')
  return messageState(row)
}
