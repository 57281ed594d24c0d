import { pkceChallenge } from '../../core/secrets.ts'
import { redirectUri } from '../../api/rc/connect.ts'
import { extensions } from '../../db/schema/connections.ts'
import type { Gateway } from '../../messages/gateway.ts'
import type { Refusal } from '../../provider/refusals.ts'
import { countExtensions, readInactiveTenants } from '../../messages/gateway-state/extensions.ts'
import { textOf } from '../conditions/condition.ts'
import { saidOfJwt } from '../conditions/jwt-refused.ts'
import { Fault } from './fault.ts'

/** Reports what RingCentral refused during the last authorization of a tenant, and a JWT that waits. Refusals to extensions are conditions. */
export async function checkAuthorization(gateway: Gateway): Promise<string> {
  const refused = await refusalsOf(gateway)
  const { state } = gateway.configuredJwt
  const jwt = 'fix' in state && state.kind !== 'refused' ? [textOf(saidOfJwt(state))] : []
  if (refused.length > 0 || jwt.length > 0) {
    const passes = refused.every(({ failure }) => failure.reason === 'rate_limited')
    throw new Fault([...refused.map((one) => describe(gateway, one)), ...jwt].join(' '), passes ? 'warn' : 'fail')
  }
  if (!gateway.lifecycle.working) throw new Fault('unknown: no server is running', 'warn')
  return 'nothing is refused'
}

async function refusalsOf({ directory, clock, database }: Gateway): Promise<Refusal[]> {
  const inactive = await readInactiveTenants(database)
  return directory.refusals
    .list(clock.now())
    .filter(({ tenantId, extensionId }) => extensionId === null && !inactive.has(tenantId))
}

function describe({ provider, config }: Gateway, { tenantId, step, failure }: Refusal): string {
  const codes = [failure.status, failure.code].filter((part) => part !== null).join(' ')
  return `the last authorization of ${tenantId} (${codes}): ${provider.fixOf(failure, step, config.publicUrl)}`
}

/** Without a subscription, messages still arrive by back-fill; that is a condition. */
export async function checkSubscriptions(gateway: Gateway): Promise<string> {
  const counts = await countExtensions(gateway)
  if (counts.extensions.active > 0) return 'every active extension has one'
  const { active } = counts.subscriptions
  return active === 0
    ? 'none needed: no extension is active'
    : `no extension is active, but ${active} ${active === 1 ? 'subscription still brings' : 'subscriptions still bring'} texts`
}

/** Begins a login that nobody completes: the provider refuses a redirect address that is not registered. */
export async function checkRedirectAddress(gateway: Gateway): Promise<string> {
  const { config, provider, log } = gateway
  const address = redirectUri(gateway)
  if (config.provider.simulated) return address
  if (await needsNoRedirect(gateway))
    return `none: extensions are connected with a JWT${config.hasPublicUrl ? `, and only a link would use ${address}` : ''}`
  const request = { state: 'sgw-doctor', codeChallenge: pkceChallenge('sgw-doctor'), redirectUri: address }
  const probed = await provider.probeAuthorize(request)
  if (probed.ok) return `${address} is accepted`
  const { status, code, reason, requestId: providerRequestId } = probed.failure
  if (reason === 'unreachable') throw new Fault(`${address}: unknown, the provider cannot be reached`, 'warn')
  const fix = provider.fixOf(probed.failure, 'authorization', config.publicUrl)
  log.warn({ status, code, providerRequestId, fix }, 'the provider does not accept the redirect address')
  throw new Fault(`${address} (${status} ${code ?? ''}): ${fix}`, reason === 'rejected' ? 'fail' : 'warn')
}

/** A RingCentral app has one kind of authentication: an app for JWTs has no redirect address, and a gateway at home has none to offer. */
async function needsNoRedirect({ config, database }: Gateway): Promise<boolean> {
  if (config.provider.jwt !== null || (config.production && !config.hasPublicUrl)) return true
  const rows = await database.orm.select({ jwt: extensions.jwt }).from(extensions)
  return rows.length > 0 && rows.every(({ jwt }) => jwt !== null)
}
