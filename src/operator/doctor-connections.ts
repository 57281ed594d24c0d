import { pkceChallenge } from '../core/secrets.ts'
import { NOT_RECEIVING } from '../db/not-receiving.ts'
import { redirectUri } from '../features/rc/connect.ts'
import type { Gateway } from '../gateway.ts'
import type { Refusal } from '../provider/refusals.ts'
import { statusFailure } from '../provider/ringcentral/errors.ts'
import { fixOf } from '../provider/ringcentral/fixes.ts'
import { Fault } from './fault.ts'

/** What RingCentral refused at an authorization, or to a connected extension, and refuses still. */
export function checkAuthorization(gateway: Gateway): string {
  const standing = refusalsOf(gateway).filter(({ step }) => step !== 'subscription')
  if (standing.length === 0) return gateway.lifecycle.working ? 'nothing is refused' : 'not known without a server'
  const passes = standing.every(({ failure }) => failure.reason === 'rate_limited')
  throw new Fault(describe(gateway, standing), passes ? 'warn' : 'fail')
}

/** Never a failure: messages come in all the same, by back-fill, but late. */
export async function checkSubscriptions(gateway: Gateway): Promise<string> {
  const { rows } = await gateway.database.gate.execute({ sql: NOT_RECEIVING, args: [gateway.clock.now()] })
  const standing = refusalsOf(gateway).filter(({ step }) => step === 'subscription')
  if (rows.length === 0 && standing.length === 0) return 'every active extension has one'
  const reasons =
    standing.length === 0
      ? `the provider must be able to reach ${gateway.config.publicUrl}/v1/webhooks/provider`
      : describe(gateway, standing)
  throw new Fault(
    `${rows.length} extensions have no active subscription, so their messages come up to 15 minutes late: ${reasons}`,
    'warn',
  )
}

const refusalsOf = ({ directory, clock }: Gateway): Refusal[] => directory.refusals.list(clock.now())

const describe = (gateway: Gateway, refusals: readonly Refusal[]): string =>
  refusals
    .map(({ tenantId, extensionId, step, failure }) => {
      const subject = extensionId === null ? `the last authorization of ${tenantId}` : `extension ${extensionId}`
      const codes = [failure.status, failure.code].filter((part) => part !== null).join(' ')
      return `${subject} (${codes}): ${fixOf(failure, step, gateway.config.publicUrl)}`
    })
    .join(' ')

const TIMEOUT_MS = 5000

/** Asks for a login that nobody will make: a redirect address that is not registered is refused at once. */
export async function checkRedirectAddress(gateway: Gateway): Promise<string> {
  const { config, provider, log } = gateway
  const address = redirectUri(gateway)
  if (config.provider.simulated) return address
  const request = { state: 'sgw-doctor', codeChallenge: pkceChallenge('sgw-doctor'), redirectUri: address }
  const response = await fetch(`${provider.authorizeUrl(request)}&prompt=none`, {
    redirect: 'manual',
    signal: AbortSignal.timeout(TIMEOUT_MS),
  }).catch(() => null)
  if (response === null) return `${address}: not known, the provider cannot be reached`
  if (response.status < 400) return `${address} is accepted`
  const failure = statusFailure(
    {
      status: response.status,
      body: await response.text().catch(() => null),
      bodyError: null,
      requestId: response.headers.get('rcrequestid'),
      retryAfterMs: null,
    },
    'oauth',
    (text) => text,
  )
  const { status, code, requestId: providerRequestId } = failure
  const fix = fixOf(failure, 'authorization', config.publicUrl)
  log.warn({ status, code, providerRequestId, fix }, 'the provider does not accept the redirect address')
  throw new Fault(`${address} (${status} ${code ?? ''}): ${fix}`, failure.reason === 'rejected' ? 'fail' : 'warn')
}
