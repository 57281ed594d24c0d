import type { Config } from '../../core/config.ts'
import type { Gateway } from '../../messages/gateway.ts'
import { Fault } from './fault.ts'

/** Where webhooks of active tenants go. */
const DESTINATIONS = `SELECT apps.id, webhook_url AS url FROM apps JOIN tenants ON tenants.id = tenant_id AND tenants.status = 'active'
    WHERE is_active = 1 AND webhook_url IS NOT NULL
  UNION ALL SELECT triggers.id, callback_url FROM triggers JOIN tenants ON tenants.id = tenant_id AND tenants.status = 'active'`

const MAX_NAMED = 10

/** Errors: `Fault` if the configuration now refuses an address that it accepted before. */
export async function checkDestinations(gateway: Gateway): Promise<string> {
  const refused = await describeRefused(gateway)
  if (refused !== null) throw new Fault(refused, 'warn')
  return 'the configuration allows the address of each app and trigger'
}

/** A sentence for the operator about the webhook addresses that the configuration refuses, and what to do; null if there are none. */
export async function describeRefused({ config, database, guard }: Gateway): Promise<string | null> {
  const { rows } = await database.gate.execute(DESTINATIONS)
  const refused = rows
    .map(({ id, url }) => ({ id: String(id), url: String(url) }))
    .filter(({ url }) => !guard.accepts(url))
  if (refused.length === 0) return null
  const named = refused.slice(0, MAX_NAMED).map(({ id, url }) => `${id} (${originOf(url)})`)
  const more = refused.length > MAX_NAMED ? ` and ${refused.length - MAX_NAMED} more` : ''
  return `webhooks are not posted to ${named.join(', ')}${more}: ${ruleOf(config)}`
}

/** A path may hold a credential. */
const originOf = (url: string): string => URL.parse(url)?.origin ?? 'an address that is not a URL'

const ruleOf = ({ production, hasPublicUrl }: Config): string => {
  const own = 'addresses of this machine and its network must be listed in WEBHOOK_ALLOW_CIDRS'
  if (!production) return own
  return hasPublicUrl
    ? `with PUBLIC_URL an address must begin with https://, and ${own}`
    : `without PUBLIC_URL http:// is allowed to literal addresses in WEBHOOK_ALLOW_CIDRS, for example 127.0.0.1; everything else must begin with https://`
}
