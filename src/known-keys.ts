import type { Gateway } from './gateway.ts'

/** The newest encrypted value of each kind. The others were written with the same keys or older ones. */
const NEWEST_SECRETS = `SELECT * FROM (SELECT webhook_secret AS encrypted FROM apps ORDER BY seq DESC LIMIT 1)
  UNION ALL SELECT * FROM (SELECT access_token FROM extensions ORDER BY connected_at DESC LIMIT 1)`

/**
 * Logs an error if the encryption keys are not those of this database: then no API key is accepted, and nothing can be
 * sent or signed. The server starts all the same, because an operator who has lost the keys must be able to give apps new
 * keys and connect extensions again.
 */
export async function warnOfUnknownKeys({ database, secrets, log }: Gateway): Promise<void> {
  const { rows } = await database.gate.execute(NEWEST_SECRETS)
  if (rows.some((row) => !secrets.isKnown(String(row['encrypted']))))
    log.error(
      {},
      'ENCRYPTION_KEYS has no key that can decrypt the stored secrets, so API keys are refused: add the old key behind the newest',
    )
}
