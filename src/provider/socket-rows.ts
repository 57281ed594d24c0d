import { and, eq, like, not, type SQL, sql } from 'drizzle-orm'
import type { Clock } from '../core/clock.ts'
import type { Ids } from '../core/ids.ts'
import type { Orm } from '../db/orm.ts'
import { subscriptions } from '../db/schema/connections.ts'
import type { EventSocket } from './event-socket.ts'
import type { TopicKey } from './subscription-rows.ts'

// The row of an extension's socket among the subscriptions: one per topic, which stays. It has no token, because nothing presents one.

const PREFIX = 'socket:'
const tokenHashOf = ({ tenantId, extensionId, topic }: TopicKey): string =>
  `${PREFIX}${topic === 'messages' ? '' : `${topic}:`}${tenantId}/${extensionId}`

/** The pattern of their token hashes. */
export const SOCKETS = `${PREFIX}%`

/** Subscriptions of webhooks. */
export const IS_WEBHOOK: SQL = not(like(subscriptions.tokenHash, SOCKETS))

/** Inserts the row unless it is there, or the extension was disconnected meanwhile. */
const insertSocket = (orm: Orm, key: TopicKey, id: string, now: number) =>
  orm.run(sql`INSERT INTO subscriptions (id, tenant_id, extension_id, topic, token_hash, status, created_at)
    SELECT ${id}, tenant_id, extension_id, ${key.topic}, ${tokenHashOf(key)}, 'pending', ${now}
    FROM extensions WHERE tenant_id = ${key.tenantId} AND extension_id = ${key.extensionId}
    ON CONFLICT DO NOTHING`)

/** From now on no event arrives until the next socket is open. */
export const markOpening = ({ orm, ids, clock }: { orm: Orm; ids: Ids; clock: Clock }, key: TopicKey) =>
  orm.batch([markClosed(orm, key, clock.now()), insertSocket(orm, key, ids.of('sub'), clock.now())])

/** From now on no event arrives, neither from the socket nor from a webhook that it replaces. */
export const markClosed = (orm: Orm, key: TopicKey, now: number) =>
  orm
    .update(subscriptions)
    .set({ status: 'pending', createdAt: now })
    .where(and(isOf(key), eq(subscriptions.status, 'active')))

/** The same for the sockets of an earlier process, which ended with it. */
export const markAllClosed = (orm: Orm, now: number) =>
  orm
    .update(subscriptions)
    .set({ status: 'pending', createdAt: now })
    .where(and(like(subscriptions.tokenHash, SOCKETS), eq(subscriptions.status, 'active')))

/** The socket is open. */
export const markOpen = (
  orm: Orm,
  key: TopicKey,
  { subscriptionId, lifeMs }: Pick<EventSocket, 'subscriptionId' | 'lifeMs'>,
  now: number,
) =>
  orm
    .update(subscriptions)
    .set({ providerId: subscriptionId, expiresAt: now + lifeMs, checkedAt: now, status: 'active' })
    .where(and(isOf(key), eq(subscriptions.tokenHash, tokenHashOf(key))))

/** The webhook subscriptions of the extension. */
export const readWebhooks = (orm: Orm, key: TopicKey) =>
  orm
    .select({ id: subscriptions.id, providerId: subscriptions.providerId })
    .from(subscriptions)
    .where(and(isOf(key), IS_WEBHOOK))

const isOf = ({ tenantId, extensionId, topic }: TopicKey): SQL | undefined =>
  and(eq(subscriptions.tenantId, tenantId), eq(subscriptions.extensionId, extensionId), eq(subscriptions.topic, topic))
