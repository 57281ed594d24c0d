import { pkceChallenge } from '../core/secrets.ts'
import { isoTime } from '../core/clock.ts'
import { redirectUri } from '../api/rc/connect.ts'
import { extensions } from '../db/schema/connections.ts'
import type { Gateway } from '../messages/gateway.ts'
import type { JwtProblem } from '../provider/configured-jwt.ts'
import type { Refusal } from '../provider/refusals.ts'
import { countExtensions, readInactiveTenants, readTroubledExtensions } from '../messages/gateway-state/extensions.ts'
import { Fault } from './fault.ts'

/** Reports what RingCentral refused during an authorization, or to a connected extension, and would refuse again. */
export async function checkAuthorization(gateway: Gateway): Promise<string> {
  const standing = (await refusalsOf(gateway)).filter(({ step }) => step !== 'subscription')
  const { state } = gateway.configuredJwt
  const jwt = 'fix' in state ? state : null
  if (standing.length === 0 && jwt === null) {
    if (!gateway.lifecycle.working) throw new Fault('unknown: no server is running', 'warn')
    return 'nothing is refused'
  }
  const passes = standing.every(({ failure }) => failure.reason === 'rate_limited') && jwt?.kind !== 'refused'
  const text = [describe(gateway, standing), jwt === null ? '' : describeJwt(jwt)].filter((part) => part !== '')
  throw new Fault(text.join(' '), passes ? 'warn' : 'fail')
}

/** Why RC_JWT has connected no extension, and when it is presented again, if it is. */
export function describeJwt({ tenantId, codes, fix, nextAt }: JwtProblem): string {
  const subject = tenantId === null ? 'RC_JWT' : `RC_JWT for ${tenantId}`
  const again = nextAt === null ? '' : ` It is presented again by itself at ${isoTime(nextAt)}.`
  return `${subject}${codes === '' ? '' : ` (${codes})`}: ${fix}${again}`
}

/** Without a subscription messages still arrive, by back-fill, so this check only warns. */
export async function checkSubscriptions(gateway: Gateway): Promise<string> {
  const silent = (await readTroubledExtensions(gateway)).filter(({ trouble }) => trouble === 'not_receiving')
  const standing = (await refusalsOf(gateway)).filter(({ step }) => step === 'subscription')
  if (silent.length === 0 && standing.length === 0)
    return (await countExtensions(gateway)).extensions.active > 0
      ? 'every active extension has one'
      : 'none needed: no extension is active'
  const reasons = standing.length === 0 ? gateway.subscriptions.advice.needs : describe(gateway, standing)
  const subject = silent.length === 1 ? '1 extension has' : `${silent.length} extensions have`
  if (!gateway.lifecycle.working && standing.length === 0)
    throw new Fault(`${subject} no active subscription: no server is running, so no messages arrive`, 'warn')
  const late = `${subject} no active subscription, so messages arrive up to a minute late: `
  throw new Fault(`${silent.length === 0 ? '' : late}${reasons}`, 'warn')
}

async function refusalsOf({ directory, clock, database }: Gateway): Promise<Refusal[]> {
  const inactive = await readInactiveTenants(database)
  return directory.refusals.list(clock.now()).filter(({ tenantId }) => !inactive.has(tenantId))
}

const describe = (gateway: Gateway, refusals: readonly Refusal[]): string =>
  refusals
    .map(({ tenantId, extensionId, step, failure }) => {
      const subject = extensionId === null ? `the last authorization of ${tenantId}` : `extension ${extensionId}`
      const codes = [failure.status, failure.code].filter((part) => part !== null).join(' ')
      return `${subject} (${codes}): ${gateway.provider.fixOf(failure, step, gateway.config.publicUrl)}`
    })
    .join(' ')

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

/** An app of RingCentral has one authentication: one for JWTs has no redirect address, and a gateway at home has none to give. */
async function needsNoRedirect({ config, database }: Gateway): Promise<boolean> {
  if (config.provider.jwt !== null || (config.production && !config.hasPublicUrl)) return true
  const rows = await database.orm.select({ jwt: extensions.jwt }).from(extensions)
  return rows.length > 0 && rows.every(({ jwt }) => jwt !== null)
}
