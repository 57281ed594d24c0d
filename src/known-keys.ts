import type { Gateway } from './gateway.ts'

/** The newest of each kind tells. */
const NEWEST_SECRETS = `SELECT * FROM (SELECT webhook_secret AS sealed FROM apps ORDER BY seq DESC LIMIT 1)
  UNION ALL SELECT * FROM (SELECT access_token FROM extensions ORDER BY connected_at DESC LIMIT 1)`

/**
 * With keys that made nothing of what is stored every API key is wrong, and nothing can be sent or signed. It starts all
 * the same: where the right ones are lost, apps are activated and extensions connected anew.
 */
export async function warnOfUnknownKeys({ database, secrets, log }: Gateway): Promise<void> {
  const { rows } = await database.gate.execute(NEWEST_SECRETS)
  if (rows.some((row) => !secrets.isKnown(String(row['sealed']))))
    log.error(
      {},
      'stored secrets do not open, and API keys are not known: put the key that made them into ENCRYPTION_KEYS, behind the newest',
    )
}
