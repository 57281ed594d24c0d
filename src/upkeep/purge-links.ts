import { and, isNotNull, lte, or } from 'drizzle-orm'
import { HOUR_MS } from '../core/limits.ts'
import { connectTokens, oauthStates } from '../db/schema/connections.ts'
import { build, statementOf } from '../db/statement.ts'
import type { Gateway } from '../gateway.ts'

/** Deletes connect links and OAuth states that are used or expired. Links of the last hour stay: they count for the tenant's limit. */
export async function purgeLinks(gateway: Gateway): Promise<void> {
  const now = gateway.clock.now()
  const isOver = (table: typeof connectTokens | typeof oauthStates) =>
    or(isNotNull(table.usedAt), lte(table.expiresAt, now))
  await gateway.database.writer.write([
    statementOf(
      build.delete(connectTokens).where(and(isOver(connectTokens), lte(connectTokens.createdAt, now - HOUR_MS))),
    ),
    statementOf(build.delete(oauthStates).where(isOver(oauthStates))),
  ])
}
