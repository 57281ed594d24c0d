import { isoTime } from '../../core/clock.ts'
import type { Gateway } from '../../messages/gateway.ts'
import { connectionFix } from '../../provider/refused-by-proxy.ts'
import type { AlertCheck, AlertCondition, CheckHistory } from './condition.ts'

/** A short outage ends by itself, and costs nothing but time. */
const SILENT_MS = 2 * 60_000
const OTHERS = "DNS, the firewall and the network, and RingCentral's status page"

export const providerChecks = (gateway: Gateway): AlertCheck[] => [
  { names: ['provider_credentials'], find: () => findRefusedClient(gateway) },
  { names: ['jwt_refused'], find: async ({ firing }) => findRefusedJwt(gateway, firing) },
  { names: ['provider_unreachable'], find: () => findSilence(gateway) },
]

async function findRefusedClient({ config, provider, providerState }: Gateway): Promise<AlertCondition[]> {
  const refusal = providerState.clientRefusal
  if (refusal === null) return []
  return [
    {
      alert: 'provider_credentials',
      subject: 'client',
      text: `RingCentral refuses RC_CLIENT_ID and RC_CLIENT_SECRET, so nothing is sent once the access tokens expire: ${provider.fixOf(refusal, 'refresh', config.publicUrl)}`,
      overText: 'Resolved: RingCentral accepts RC_CLIENT_ID and RC_CLIENT_SECRET again.',
      detail: { status: refusal.status, code: refusal.code },
    },
  ]
}

/** While RC_JWT waits to be presented again, an alert of the earlier process goes on. */
function findRefusedJwt({ configuredJwt }: Gateway, firing: CheckHistory['firing']): readonly AlertCondition[] {
  const { state } = configuredJwt
  if (state.kind === 'untried' || state.kind === 'waits') return firing.filter(({ alert }) => alert === 'jwt_refused')
  if (state.kind !== 'refused') return []
  const { tenantId, codes, fix } = state
  return [
    {
      alert: 'jwt_refused',
      subject: 'RC_JWT',
      text: `RC_JWT connects no extension: ${fix}`,
      overText: 'Resolved: RC_JWT is accepted, or no longer needed.',
      detail: { tenantId, reason: codes, fix },
    },
  ]
}

async function findSilence({ config, clock, providerState }: Gateway): Promise<AlertCondition[]> {
  const silentMs = clock.monotonic() - (providerState.silentSince ?? clock.monotonic())
  if (silentMs < SILENT_MS) return []
  const { serverUrl, throughProxy } = config.provider
  const since = Math.floor(clock.now() - silentMs)
  return [
    {
      alert: 'provider_unreachable',
      subject: 'provider',
      text: `${serverUrl} has not answered since ${isoTime(since)}, so messages wait: ${connectionFix(providerState.silenceCode, throughProxy, OTHERS)}.`,
      overText: `Resolved: ${serverUrl} answers again.`,
      detail: { silentSeconds: Math.floor(silentMs / 1000) },
      since,
    },
  ]
}
