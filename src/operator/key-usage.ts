import type { Gateway } from '../gateway.ts'

/** How many stored values still depend on an older encryption key than the newest. */
export interface KeyUsage {
  /** Encrypted secrets, which `sgw keys rotate` encrypts again. */
  encrypted: number
  /** API keys of active apps that were not used since the newest key was added. */
  apiKeys: number
  /** Subscriptions, which are created again when their key is gone. */
  subscriptions: number
  /** Connect and invite links that are still valid. */
  links: number
}

/** Every key in use is in ENCRYPTION_KEYS (`LostKeys`). Counts what would be lost or created again if the older keys were removed from ENCRYPTION_KEYS. */
export async function readKeyUsage(gateway: Gateway): Promise<KeyUsage> {
  const now = gateway.clock.now()
  const results = await gateway.database.gate.batch([
    `SELECT webhook_secret AS value FROM apps UNION ALL SELECT secret FROM triggers UNION ALL SELECT access_token FROM extensions
      UNION ALL SELECT refresh_token FROM extensions`,
    'SELECT key_hash AS value FROM apps WHERE is_active = 1',
    'SELECT token_hash AS value FROM subscriptions',
    { sql: 'SELECT token_hash AS value FROM connect_tokens WHERE used_at IS NULL AND expires_at > ?1', args: [now] },
  ])
  const [encrypted = [], apiKeys = [], subscriptions = [], links = []] = results.map(({ rows }) =>
    rows.map((row) => String(row['value'])).filter((value) => !gateway.secrets.isCurrent(value)),
  )
  return {
    encrypted: encrypted.length,
    apiKeys: apiKeys.length,
    subscriptions: subscriptions.length,
    links: links.length,
  }
}

/** Describes what still needs an older key; empty if nothing does. */
export function describeKeyUsage({ encrypted, apiKeys, subscriptions, links }: KeyUsage): string {
  return [
    encrypted > 0 ? `encrypted secrets: ${encrypted} (run: sgw keys rotate)` : '',
    apiKeys > 0 ? `API keys: ${apiKeys} (each moves to the newest key when it is used)` : '',
    subscriptions > 0 ? `subscriptions: ${subscriptions} (created again at the first start without the key)` : '',
    links > 0 ? `connect links: ${links} (until they are used or expire)` : '',
  ]
    .filter((part) => part !== '')
    .join(', ')
}
