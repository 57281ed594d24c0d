import { and, eq, sql } from 'drizzle-orm'
import { jwtExpiresAt } from '../../core/jwt.ts'
import { jobs } from '../../db/schema/jobs.ts'
import type { Gateway } from '../../messages/gateway.ts'
import { providerNow } from '../../provider/provider-time.ts'
import { type ExtensionKey, connectExtension } from '../../provider/extension-rows.ts'
import type { TokenPair } from '../../provider/grants.ts'
import type { ProviderExtension } from '../../provider/provider.ts'
import { encryptJwt, encryptPair } from '../../provider/stored-credentials.ts'
import { type ConsumedState, markConnected } from './oauth-state.ts'

/** What opened the session: a person's login, whose state is used up, or a JWT, which is kept. */
export type ConnectedBy = { state: ConsumedState } | { jwt: string }

/** False if the tenant is no longer active, or is connected to another account. */
export async function storeExtension(
  gateway: Gateway,
  tenantId: string,
  extension: ProviderExtension,
  pair: TokenPair,
  by: ConnectedBy,
): Promise<boolean> {
  const key = { tenantId, extensionId: extension.extensionId }
  const previous = await gateway.directory.extension(tenantId, extension.extensionId)
  const now = gateway.clock.now()
  const encrypted = await encryptPair(gateway.secrets, key, pair, now)
  const credential = await jwtOf(gateway, key, by)
  const { orm } = gateway.database
  const [connected] = await orm
    .batch([
      connectExtension(orm, {
        ...extension,
        ...key,
        ...encrypted,
        ...credential,
        now,
        providerNow: providerNow(gateway),
      }),
      'jwt' in by
        ? noteJwt(gateway, key, by.jwt, encrypted.refreshToken)
        : markConnected(gateway.database, by.state, encrypted.refreshToken),
      insertBackFill(gateway, key, encrypted.refreshToken),
      hastenLookup(gateway, key),
    ])
    // Even after a failure: the commit may have succeeded after all, and then the extension is connected.
    .finally(() => gateway.directory.forget(tenantId))
  if (connected.length !== 1) return false
  if (previous !== null) gateway.replacedSessions.note(previous)
  return true
}

const jwtOf = async ({ secrets }: Gateway, key: ExtensionKey, by: ConnectedBy) =>
  'jwt' in by
    ? { jwt: await encryptJwt(secrets, key, by.jwt), jwtExpiresAt: jwtExpiresAt(by.jwt) }
    : { jwt: null, jwtExpiresAt: null }

/** The extension has these tokens: its authorization was stored. */
const hasTokens = ({ tenantId, extensionId }: ExtensionKey, token: string) =>
  sql`EXISTS (SELECT 1 FROM extensions
    WHERE tenant_id = ${tenantId} AND extension_id = ${extensionId} AND refresh_token = ${token})`

/** Remembers that this JWT was connected, if it was. */
const noteJwt = ({ database, secrets }: Gateway, key: ExtensionKey, jwt: string, token: string) =>
  database.orm.run(
    sql`INSERT INTO connected_jwts (hash) SELECT ${secrets.hash(jwt)} WHERE ${hasTokens(key, token)} ON CONFLICT DO NOTHING`,
  )

/** Creates the job of the first back-fill if this authorization was stored. */
function insertBackFill({ database, clock, ids }: Gateway, key: ExtensionKey, token: string) {
  const { tenantId, extensionId } = key
  const dueAt = Math.ceil(clock.steady())
  return database.orm.run(
    sql`INSERT INTO jobs (id, kind, lane, tenant_id, subject, due_at, created_at)
      SELECT ${ids.of('job')}, 'back_fill', ${extensionId}, ${tenantId}, ${extensionId}, ${dueAt}, ${clock.now()}
      WHERE ${hasTokens(key, token)}`,
  )
}

/** A lookup may be waiting for this authorization. The kind is a literal, because an index on jobs is for some kinds only. */
const hastenLookup = ({ database, clock }: Gateway, { tenantId, extensionId }: ExtensionKey) =>
  database.orm
    .update(jobs)
    .set({ dueAt: sql`min(${jobs.dueAt}, ${Math.floor(clock.steady())})` })
    .where(and(eq(jobs.tenantId, tenantId), eq(jobs.lane, extensionId), eq(jobs.kind, sql`'lookup'`)))
