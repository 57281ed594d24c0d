import type { Gateway } from '../gateway.ts'

/** How many stored values were made with an older key than the newest. */
export interface KeyUsage {
  /** Sealed secrets, which `sgw keys rotate` seals anew. */
  sealed: number
  /** Keys of active apps that have not been used since the newest key came. */
  apiKeys: number
  /** Keys of active apps that no key of ENCRYPTION_KEYS can check any more. */
  lostApiKeys: number
  /** Subscriptions, which are made anew once their key is gone. */
  subscriptions: number
  /** Connect and invite links that can still be used. */
  links: number
}

/** Counts what would be lost, or made anew, if the older keys were taken out of ENCRYPTION_KEYS. */
export async function readKeyUsage(gateway: Gateway): Promise<KeyUsage> {
  const now = gateway.clock.now()
  const results = await gateway.database.gate.batch([
    `SELECT webhook_secret AS value FROM apps UNION ALL SELECT secret FROM triggers UNION ALL SELECT access_token FROM extensions
      UNION ALL SELECT refresh_token FROM extensions`,
    'SELECT key_hash AS value FROM apps WHERE is_active = 1',
    'SELECT token_hash AS value FROM subscriptions',
    { sql: 'SELECT token_hash AS value FROM connect_tokens WHERE used_at IS NULL AND expires_at > ?1', args: [now] },
  ])
  const [sealed = [], apiKeys = [], subscriptions = [], links = []] = results.map(({ rows }) =>
    rows.map((row) => String(row['value'])).filter((value) => !gateway.secrets.isCurrent(value)),
  )
  const lostApiKeys = apiKeys.filter((hash) => !gateway.secrets.isKnown(hash)).length
  return {
    sealed: sealed.length,
    apiKeys: apiKeys.length - lostApiKeys,
    lostApiKeys,
    subscriptions: subscriptions.length,
    links: links.length,
  }
}

/** What still needs an older key, in words; empty when nothing does. */
export function describeKeyUsage({ sealed, apiKeys, subscriptions, links }: KeyUsage): string {
  return [
    sealed > 0 ? `${sealed} sealed secrets (run: sgw keys rotate)` : '',
    apiKeys > 0 ? `${apiKeys} API keys (each moves when it is used)` : '',
    subscriptions > 0 ? `${subscriptions} subscriptions (made anew at the first start without the key)` : '',
    links > 0 ? `${links} connect links (until they are used or expire)` : '',
  ]
    .filter((part) => part !== '')
    .join(', ')
}
