import { and, eq, gt, isNotNull, isNull, sql } from 'drizzle-orm'
import { unionAll } from 'drizzle-orm/sqlite-core'
import { apps, connectTokens, extensions, subscriptions, triggers } from '../../db/schema/index.ts'
import type { Gateway } from '../../messages/gateway.ts'
import { IS_WEBHOOK } from '../../provider/socket-rows.ts'

/** How many stored values still depend on an older encryption key than the newest. */
export interface KeyUsage {
  /** Encrypted secrets, which `sgw keys rotate` encrypts again. */
  encrypted: number
  /** API keys of active apps that have not been used since the newest key was added. */
  apiKeys: number
  /** Subscriptions, which are created again when their key is gone. */
  subscriptions: number
  /** Connect and invite links that are still valid. */
  links: number
}

/**
 * Every key in use is in ENCRYPTION_KEYS (`LostKeys`). Counts values that would be lost or recreated if the older keys were removed from
 * ENCRYPTION_KEYS.
 */
export async function readKeyUsage(gateway: Gateway): Promise<KeyUsage> {
  const { secrets, clock } = gateway
  const { orm } = gateway.database
  const count = async (values: PromiseLike<{ value: string }[]>): Promise<number> =>
    (await values).filter(({ value }) => !secrets.isCurrent(value)).length
  const isLive = and(isNull(connectTokens.usedAt), gt(connectTokens.expiresAt, clock.now()))
  return {
    encrypted: await count(
      unionAll(
        orm.select({ value: apps.webhookSecret }).from(apps),
        orm.select({ value: triggers.secret }).from(triggers),
        orm.select({ value: extensions.accessToken }).from(extensions),
        orm.select({ value: extensions.refreshToken }).from(extensions),
        orm
          .select({ value: sql<string>`${extensions.jwt}` })
          .from(extensions)
          .where(isNotNull(extensions.jwt)),
      ),
    ),
    apiKeys: await count(orm.select({ value: apps.keyHash }).from(apps).where(eq(apps.isActive, true))),
    subscriptions: await count(orm.select({ value: subscriptions.tokenHash }).from(subscriptions).where(IS_WEBHOOK)),
    links: await count(orm.select({ value: connectTokens.tokenHash }).from(connectTokens).where(isLive)),
  }
}

/** Says what still needs an older key; empty if nothing does. */
export function describeKeyUsage(usage: KeyUsage): string {
  return [
    usage.encrypted > 0 ? `encrypted secrets: ${usage.encrypted} (run: sgw keys rotate)` : '',
    usage.apiKeys > 0 ? `API keys: ${usage.apiKeys} (each moves to the newest key when it is used)` : '',
    usage.subscriptions > 0
      ? `subscriptions: ${usage.subscriptions} (created again at the first start without the key)`
      : '',
    usage.links > 0 ? `connect links: ${usage.links} (until they are used or expire)` : '',
  ]
    .filter((part) => part !== '')
    .join(', ')
}
