import { and, isNotNull, lte, or } from 'drizzle-orm'
import { HOUR_MS, OAUTH_STATE_TTL_MS } from '../../core/limits.ts'
import { connectTokens, oauthStates } from '../../db/schema/connections.ts'
import type { Gateway } from '../gateway.ts'

/**
 * Deletes connect links that are used or expired, and OAuth states that expired ten minutes ago. Links of the last hour stay: they count for
 * the tenant's limit. Used states stay, so that a reloaded page can say what happened.
 */
export async function purgeLinks(gateway: Gateway): Promise<void> {
  const now = gateway.clock.now()
  const isOver = or(isNotNull(connectTokens.usedAt), lte(connectTokens.expiresAt, now))
  const { orm } = gateway.database
  await orm.batch([
    orm.delete(connectTokens).where(and(isOver, lte(connectTokens.createdAt, now - HOUR_MS))),
    orm.delete(oauthStates).where(lte(oauthStates.expiresAt, now - OAUTH_STATE_TTL_MS)),
  ])
}
