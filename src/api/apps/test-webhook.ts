import { and, eq } from 'drizzle-orm'
import type { Caller } from '../../core/caller.ts'
import { isoTime } from '../../core/clock.ts'
import { apiError } from '../../core/errors.ts'
import { apps } from '../../db/schema/tenants.ts'
import type { Gateway } from '../../messages/gateway.ts'
import type { PostResult } from '../../net/outbound/webhook-poster.ts'
import { signedHeaders } from '../../net/outbound/sign.ts'
import { openWebhookSecret } from './credentials.ts'
import { requireOwnApp } from './own-app.ts'
import type { TestResult } from './schemas.ts'

/** POSTs a signed test payload to the app's webhook address. Errors: `appNotFound`, `noWebhookUrl`. */
export async function testWebhook(gateway: Gateway, caller: Caller, appId: string): Promise<TestResult> {
  requireOwnApp(caller, appId)
  const [app] = await gateway.database.orm
    .select({ url: apps.webhookUrl, secret: apps.webhookSecret })
    .from(apps)
    .where(and(eq(apps.tenantId, caller.tenantId), eq(apps.id, appId)))
  if (app === undefined) throw apiError('appNotFound')
  if (app.url === null) throw apiError('noWebhookUrl')
  const now = gateway.clock.now()
  const body = JSON.stringify({ type: 'test', timestamp: isoTime(now), source: 'sgw' })
  const secret = await openWebhookSecret(gateway, caller.tenantId, appId, app.secret)
  const deliveryId = `test_${gateway.ids.of('req')}:${appId}`
  const headers = signedHeaders({ secret, deliveryId, timestampSeconds: Math.floor(now / 1000), body })
  return testResult(await gateway.poster.post({ url: app.url, tenantId: caller.tenantId, body, headers }))
}

function testResult(result: PostResult): TestResult {
  const body = result.snippet === null ? {} : { body: result.snippet }
  if (result.outcome === 'success') return { ok: true, ...body }
  const error = result.errorMessage ?? `The destination answered ${result.statusCode}`
  return { ok: false, status: result.statusCode ?? 0, error, ...body }
}
