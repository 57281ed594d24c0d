import type { Registered } from '../../src/api/apps/schemas.ts'
import { storeInbound } from '../../src/messages/inbound/store-inbound.ts'
import { insertDeliveries } from '../support/delivery-rows.ts'
import { FROM, TO, type World } from '../support/world.ts'

/** A tenant with rows of every kind, which another tenant tries to access. */
export interface Victim {
  app: Registered
  /** The existing ids of the victim, by kind. */
  messages: string[]
  apps: string[]
  triggers: string[]
  tenants: string[]
}

export const VICTIM_TEXT = 'for the eyes of the other tenant'

/**
 * Creates another tenant with messages of both directions and every state, apps, triggers and deliveries. Workers must
 * not run.
 */
export async function createVictim(world: World): Promise<Victim> {
  const app = await world.otherTenant('Victim')
  const { gateway } = world
  const call = { key: app.apiKey }
  const second = await world.json<Registered>('POST', '/v1/apps/register', {
    ...call,
    body: { name: 'Second', tenantId: app.tenantId, webhookUrl: 'http://127.0.0.1:9/victim' },
  })
  const queued = await world.send({ body: VICTIM_TEXT, userId: 'victim-user' }, call)
  const cancelled = await world.send({ body: VICTIM_TEXT }, call)
  await world.call('DELETE', `/v1/sms/${cancelled}`, call)
  const keyed = await world.send({ body: VICTIM_TEXT }, { ...call, headers: { 'idempotency-key': 'shared-key' } })
  await storeInbound(gateway, {
    tenantId: app.tenantId,
    extensionId: '1',
    providerMessageId: '77',
    from: TO,
    to: FROM,
    text: VICTIM_TEXT,
  })
  const inbound =
    (await world.json<{ messages: { messageId: string }[] }>('GET', '/v1/sms/messages?direction=inbound', call)).body
      .messages[0]?.messageId ?? ''
  await world.call('PUT', '/v1/opt-outs', { ...call, body: { number: FROM, contact: TO, optedOut: true } })
  const third = await world.json<Registered>('POST', '/v1/apps/register', {
    ...call,
    body: { name: 'Gone', tenantId: app.tenantId },
  })
  await world.call('DELETE', `/v1/apps/${third.body.appId}`, { key: third.body.apiKey })
  const trigger = await world.json<{ triggerId: string }>('POST', '/v1/triggers', {
    ...call,
    body: { callbackUrl: 'http://127.0.0.1:9/trigger' },
  })
  await insertDeliveries(world, [
    {
      tenantId: app.tenantId,
      kind: 'app',
      targetId: app.appId,
      messageId: inbound,
      outcome: 'success',
      attemptedAt: Date.now(),
    },
    {
      tenantId: app.tenantId,
      kind: 'trigger',
      targetId: trigger.body.triggerId,
      messageId: inbound,
      outcome: 'http_error',
      attemptedAt: Date.now(),
    },
  ])
  return {
    app,
    messages: [queued, cancelled, keyed, inbound],
    apps: [app.appId, second.body.appId, third.body.appId],
    triggers: [trigger.body.triggerId],
    tenants: [app.tenantId],
  }
}

/** Reads all rows of a tenant, for a later comparison. */
export async function rowsOf(world: World, tenantId: string): Promise<unknown> {
  const tables = [
    'apps',
    'connect_tokens',
    'conversation_activity',
    'contact_owners',
    'webhook_attempts',
    'webhook_destinations',
    'extensions',
    'jobs',
    'messages',
    'oauth_states',
    'opt_outs',
    'phone_numbers',
    'send_attempts',
    'subscriptions',
    'triggers',
    'ws_tokens',
  ]
  const { gate } = world.gateway.database
  const results = await gate.batch(
    tables.map((table) => ({ sql: `SELECT * FROM ${table} WHERE tenant_id = ?1 ORDER BY rowid`, args: [tenantId] })),
  )
  return results.map(({ rows }) => rows.map((row) => ({ ...row, last_used_at: undefined })))
}
