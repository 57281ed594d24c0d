import { type SQL, and, eq, sql } from 'drizzle-orm'
import type { Orm } from '../db/orm.ts'
import { type ExtensionStatus, extensions } from '../db/schema/connections.ts'
import { type LastingRefusal, encodeRefusals } from './stored-refusals.ts'

// Statements that change an extension. Each names its tenant. One that replaces tokens also names the refresh token that it replaces, so
// that it changes nothing if another refresh was stored first.

export interface EncryptedPair {
  accessToken: string
  accessExpiresAt: number
  refreshToken: string
  refreshExpiresAt: number
  /** Null if the session does not end on its own. */
  sessionEndsAt: number | null
  /** When the provider issued it. */
  refreshedAt: number
}

/** A new pair from the provider, encrypted for its row. */
export interface FreshPair {
  /** The encrypted refresh token that it replaces. */
  replaces: string
  encrypted: EncryptedPair
  accessToken: string
  /** Whether a refresh had failed before. */
  endsFailure: boolean
}

export interface NewExtension extends EncryptedPair {
  tenantId: string
  extensionId: string
  accountId: string
  extensionNumber: string | null
  name: string | null
  /** Encrypted; null if a person authorized the extension. */
  jwt: string | null
  /** Epoch milliseconds; null if there is no JWT, or it has no end. */
  jwtExpiresAt: number | null
  now: number
  /** The current time by the provider's clock. */
  providerNow: number
}

/**
 * Connects an extension or re-authorizes it; returns its id if it did. The tenant must be active and must have no live extension of another
 * account. One statement checks and writes, so that if two accounts authorize at the same time, only one is connected. Inbound messages since
 * the last back-fill may be missing: the next one continues from there, or from the first authorization if no back-fill has ended yet. The
 * time of the first authorization stays until the extension is disconnected.
 */
export const connectExtension = (orm: Orm, row: NewExtension) =>
  orm.values(sql`INSERT INTO extensions (tenant_id, extension_id, account_id, status, connected_at, access_token, access_expires_at,
      refresh_token, refresh_expires_at, refreshed_at, status_since, extension_number, name, jwt, jwt_expires_at, first_connected_at,
      session_ends_at)
    SELECT ${row.tenantId}, ${row.extensionId}, ${row.accountId}, 'active', ${row.now}, ${row.accessToken}, ${row.accessExpiresAt},
      ${row.refreshToken}, ${row.refreshExpiresAt}, ${row.now}, ${row.now}, ${row.extensionNumber}, ${row.name},
      ${row.jwt}, ${row.jwtExpiresAt}, ${row.providerNow}, ${row.sessionEndsAt}
    WHERE EXISTS (SELECT 1 FROM tenants WHERE id = ${row.tenantId} AND status = 'active')
      AND NOT EXISTS (SELECT 1 FROM extensions
        WHERE tenant_id = ${row.tenantId} AND account_id != ${row.accountId} AND status != 'revoked')
    ON CONFLICT (tenant_id, extension_id) DO UPDATE SET account_id = excluded.account_id, status = 'active',
      connected_at = excluded.connected_at, access_token = excluded.access_token, access_expires_at = excluded.access_expires_at,
      refresh_token = excluded.refresh_token, refresh_expires_at = excluded.refresh_expires_at, refreshed_at = excluded.refreshed_at,
      refresh_failures = 0, next_refresh_at = NULL, refresh_refusal = NULL, status_since = excluded.status_since,
      extension_number = excluded.extension_number, name = excluded.name,
      jwt = excluded.jwt, jwt_expires_at = excluded.jwt_expires_at, session_ends_at = excluded.session_ends_at,
      inbound_seen_at = coalesce(extensions.inbound_seen_at, extensions.connected_at)
    RETURNING extension_id`)

/** Stores the extension's current name and number at the provider. */
export const nameExtension = (orm: Orm, key: ExtensionKey, { extensionNumber, name }: ExtensionNames) =>
  orm
    .update(extensions)
    .set({ extensionNumber, name })
    .where(and(eq(extensions.tenantId, key.tenantId), eq(extensions.extensionId, key.extensionId)))

export interface ExtensionNames {
  extensionNumber: string | null
  name: string | null
}

/** Stores a refreshed pair, unless another pair has replaced `old` before. */
export const replacePair = (orm: Orm, key: ExtensionKey, old: string, pair: EncryptedPair) =>
  orm
    .update(extensions)
    .set({ ...pair, ...becomes('active', pair.refreshedAt), ...NO_FAILURE })
    .where(and(eq(extensions.tenantId, key.tenantId), hasPair(key, old)))
    .returning(ID)

const NO_FAILURE = { refreshFailures: 0, nextRefreshAt: null, refreshRefusal: null }

/** Stores the same credentials encrypted with another key, unless another pair has replaced `old` before. */
export const replaceEncryption = (
  orm: Orm,
  key: ExtensionKey,
  old: string,
  credentials: Pick<EncryptedPair, 'accessToken' | 'refreshToken'> & { jwt: string | null },
) =>
  orm
    .update(extensions)
    .set(credentials)
    .where(and(eq(extensions.tenantId, key.tenantId), hasPair(key, old)))
    .returning(ID)

/** Records a failed refresh; `nextRefreshAt` is null if no refresh can succeed anymore. */
export const noteRefreshFailure = (
  orm: Orm,
  key: ExtensionKey,
  old: string,
  { status, failures, nextRefreshAt, accessExpiresAt, refusal, now }: RefreshFailure,
) =>
  orm
    .update(extensions)
    .set({
      ...becomes(status, now),
      refreshFailures: failures,
      nextRefreshAt,
      accessExpiresAt,
      refreshRefusal: refusal,
    })
    .where(and(eq(extensions.tenantId, key.tenantId), hasPair(key, old)))
    .returning(ID)

const ID = { extensionId: extensions.extensionId }

const hasPair = ({ extensionId }: ExtensionKey, old: string): SQL | undefined =>
  and(eq(extensions.extensionId, extensionId), eq(extensions.refreshToken, old))

/** The status, and when it began. */
const becomes = (status: ExtensionStatus, now: number) => ({
  status,
  statusSince: sql`CASE WHEN ${extensions.status} = ${status} THEN ${extensions.statusSince} ELSE ${now} END`,
})

export interface RefreshFailure {
  status: ExtensionStatus
  /** In a row. */
  failures: number
  nextRefreshAt: number | null
  /** Until when the old access token may still be used. */
  accessExpiresAt: number
  /** Why (`encodeRefreshRefusal`). */
  refusal: string
  now: number
}

/** Stores the provider's refusals for an extension. */
export const storeRefusals = (orm: Orm, { tenantId, extensionId }: ExtensionKey, lasting: readonly LastingRefusal[]) =>
  orm
    .update(extensions)
    .set({ refusals: encodeRefusals(lasting) })
    .where(and(eq(extensions.tenantId, tenantId), eq(extensions.extensionId, extensionId)))
    .execute()

/** A 429 pauses the extension in every tenant. It is stored so that a restart does not send during the pause; the longest pause wins. */
export const notePause = (orm: Orm, extensionId: string, until: number) =>
  orm
    .update(extensions)
    .set({ pausedUntil: sql`max(coalesce(${extensions.pausedUntil}, 0), ${until})` })
    .where(eq(extensions.extensionId, extensionId))

export interface ExtensionKey {
  tenantId: string
  extensionId: string
}

/** A key of an extension for maps: the same extension may be connected to several tenants. */
export const nameOf = ({ tenantId, extensionId }: ExtensionKey): string => `${tenantId}/${extensionId}`
