import { isoTime } from '../../core/clock.ts'
import type { Gateway } from '../../messages/gateway.ts'
import type { AlertCheck, AlertCondition } from './condition.ts'

/** A short outage ends by itself, and costs nothing but time. */
const SILENT_MS = 2 * 60_000

export const providerChecks = (gateway: Gateway): AlertCheck[] => [
  { names: ['provider_credentials'], find: () => findRefusedClient(gateway) },
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

async function findSilence({ config, clock, providerState }: Gateway): Promise<AlertCondition[]> {
  const silentMs = clock.monotonic() - (providerState.silentSince ?? clock.monotonic())
  if (silentMs < SILENT_MS) return []
  const { serverUrl } = config.provider
  const since = Math.floor(clock.now() - silentMs)
  return [
    {
      alert: 'provider_unreachable',
      subject: 'provider',
      text: `${serverUrl} has not answered since ${isoTime(since)}, so messages wait: check DNS, the firewall and the network, and RingCentral's status page.`,
      overText: `Resolved: ${serverUrl} answers again.`,
      detail: { silentSeconds: Math.floor(silentMs / 1000) },
      since,
    },
  ]
}
