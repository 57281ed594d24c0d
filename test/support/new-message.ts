import type { NewMessage } from '../../src/messages/sending/accept-rows.ts'
import { FROM, TO, type World } from './world.ts'

/** A text of the tenant, as `sending.accept` stores it, with the given fields. */
export const newMessage = (
  { gateway, app, tenantId }: Pick<World, 'gateway' | 'app' | 'tenantId'>,
  own: Partial<NewMessage> = {},
): NewMessage => ({
  messageId: gateway.ids.message(null),
  jobId: gateway.ids.of('job'),
  tenantId,
  appId: app.appId,
  userId: null,
  from: FROM,
  to: TO,
  body: 'Hello',
  attachments: null,
  now: gateway.clock.now(),
  idempotencyKey: null,
  requestHash: null,
  keysExpiredBefore: 0,
  resentFrom: null,
  ...own,
})
