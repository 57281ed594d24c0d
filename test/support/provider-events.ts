import { storeInbound } from '../../src/messages/inbound/store-inbound.ts'
import type { World } from './world.ts'

const PATH = '/v1/webhooks/provider'

/** Inserts a subscription whose Verification-Token the test knows. Returns the token. */
export async function subscribe(
  world: World,
  subscription: { tenantId?: string; extensionId?: string; token?: string; providerId?: string } = {},
): Promise<string> {
  const {
    tenantId = world.tenantId,
    extensionId = EXTENSION,
    token = crypto.randomUUID(),
    providerId = crypto.randomUUID(),
  } = subscription
  const { database, secrets } = world.gateway
  await database.writer.write([
    {
      sql: `INSERT INTO subscriptions (id, tenant_id, extension_id, provider_id, token_hash, status, created_at) VALUES (?1, ?2, ?3, ?4, ?5, 'active', 0)`,
      args: [crypto.randomUUID(), tenantId, extensionId, providerId, secrets.hash(token)],
    },
  ])
  return token
}

export const EXTENSION = '629890016'
export const ACCOUNT = '809640016'

/** An inbound SMS as the provider POSTs it. `body` and `envelope` replace members. Undefined removes one. */
export function smsEvent(
  body: Record<string, unknown> = {},
  envelope: Record<string, unknown> = {},
): Record<string, unknown> {
  return {
    uuid: '6242343638330007102',
    event: `/restapi/v1.0/account/${ACCOUNT}/extension/${EXTENSION}/message-store/instant?type=SMS`,
    timestamp: '2026-11-21T02:31:45.034Z',
    subscriptionId: '7e4a7486-8df9-4195-8aef-b8d81d3345f6',
    ownerId: EXTENSION,
    body: {
      id: '3062991599016',
      to: [{ phoneNumber: '+15555550100', name: 'Alice', target: true }],
      from: { phoneNumber: '+15555550123' },
      type: 'SMS',
      creationTime: '2026-11-21T02:31:45.028Z',
      direction: 'Inbound',
      subject: 'Hi',
      messageStatus: 'Received',
      eventType: 'Create',
      ...body,
    },
    ...envelope,
  }
}

/** POSTs to the provider's webhook. */
export function postEvent(
  world: World,
  token: string | null,
  event: unknown,
  headers: Record<string, string> = {},
): Promise<Response> {
  return fetch(`${world.url}${PATH}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json; charset=UTF-8',
      ...(token === null ? {} : { 'verification-token': token }),
      ...headers,
    },
    body: typeof event === 'string' ? event : JSON.stringify(event),
  })
}

export interface ListedMessage extends Record<string, unknown> {
  messageId: string
  jobId: string
  from: string
  to: string
  body: string
  rcMessageId: string
  createdAt: string
}

/** Returns the tenant's inbound messages, newest first. */
export async function inboundMessages(
  world: World,
  options: { key?: string; limit?: number } = {},
): Promise<{ messages: ListedMessage[]; total: number }> {
  const { key = world.key, limit = 100 } = options
  return (
    await world.json<{ messages: ListedMessage[]; total: number }>(
      'GET',
      `/v1/sms/messages?direction=inbound&limit=${limit}`,
      { key },
    )
  ).body
}

/** Returns the log of deliveries, newest first. */
export async function attempts(world: World, query = '', key = world.key): Promise<Record<string, unknown>[]> {
  return (
    await world.json<{ attempts: Record<string, unknown>[] }>('GET', `/v1/webhook-deliveries?limit=100&${query}`, {
      key,
    })
  ).body.attempts
}

/** Stores an inbound message, which the gateway publishes. */
export const receiveText = (world: World, body: string, tenantId = world.tenantId): Promise<boolean> =>
  storeInbound(world.gateway, {
    tenantId,
    extensionId: EXTENSION,
    providerMessageId: crypto.randomUUID(),
    from: '+15555550123',
    to: '+15555550100',
    text: body,
  })
