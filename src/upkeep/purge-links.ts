import { HOUR_MS } from '../core/limits.ts'
import type { Gateway } from '../gateway.ts'

/** Deletes connect links and OAuth states that are used or expired. Links of the last hour stay: they count for the tenant's limit. */
export async function purgeLinks(gateway: Gateway): Promise<void> {
  const now = gateway.clock.now()
  await gateway.database.writer.write([
    {
      sql: 'DELETE FROM connect_tokens WHERE (used_at IS NOT NULL OR expires_at <= ?1) AND created_at <= ?2',
      args: [now, now - HOUR_MS],
    },
    { sql: 'DELETE FROM oauth_states WHERE used_at IS NOT NULL OR expires_at <= ?1', args: [now] },
  ])
}
