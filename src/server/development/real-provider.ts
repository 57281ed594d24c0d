import { ne, and, eq } from 'drizzle-orm'
import { ApiError } from '../../core/errors.ts'
import { DEVELOPMENT_KEY, readSecret } from '../../db/data-folder.ts'
import { extensions, tenants } from '../../db/schema/index.ts'
import { issueToken } from '../../api/rc/issue-token.ts'
import type { Gateway } from '../../messages/gateway.ts'
import type { DevelopmentFacts } from '../greeting.ts'
import type { RunningGateway } from '../run.ts'
import { prepareApp } from './prepare.ts'

/**
 * Prepares a gateway in development whose provider is RingCentral itself: creates a tenant, an app, and a link that connects an extension,
 * unless RC_JWT does that.
 */
export async function prepareRealProvider({ gateway }: RunningGateway): Promise<DevelopmentFacts> {
  const app = (await isOwn(gateway)) ? await prepareApp(gateway) : null
  const needsLink = app !== null && gateway.config.provider.jwt === null
  return { apiKey: app?.apiKey ?? null, connectUrl: needsLink ? await connectLink(gateway, app.tenantId) : null }
}

/** Whether the database is empty, or has the app of an earlier start. In any other database, a new tenant would be a surprise. */
async function isOwn({ config, database }: Gateway): Promise<boolean> {
  if (readSecret(config, DEVELOPMENT_KEY) !== null) return true
  return (await database.orm.select({ id: tenants.id }).from(tenants).limit(1)).length === 0
}

/** Null if an extension is connected already, or too many links were issued. */
async function connectLink(gateway: Gateway, tenantId: string): Promise<string | null> {
  const [connected] = await gateway.database.orm
    .select({ id: extensions.extensionId })
    .from(extensions)
    .where(and(eq(extensions.tenantId, tenantId), ne(extensions.status, 'revoked')))
    .limit(1)
  if (connected !== undefined) return null
  try {
    // An invite lives for days, a connect token only five minutes.
    const { connectUrl } = await issueToken(gateway, { tenantId }, 'invite')
    return `${gateway.config.publicUrl}${connectUrl}`
  } catch (error) {
    if (error instanceof ApiError) return null
    throw error
  }
}
