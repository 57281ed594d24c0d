import type { Clock } from '../core/clock.ts'
import type { Lease } from '../core/lease.ts'
import type { Meter } from '../core/meter.ts'
import type { Provider, ProviderResult } from './provider.ts'
import type { ProviderState } from './provider-state.ts'

interface Observers {
  meter: Meter
  clock: Clock
  state: ProviderState
  /** Null where there is no other gateway. */
  lease: Pick<Lease, 'granted'> | null
}

/** Wraps a provider so that each call needs the lease, and is reported with its outcome and duration. */
export function observed(provider: Provider, observers: Observers): Provider {
  const { state } = observers
  const observe = observerOf(observers)
  const noteClient = (result: ProviderResult<unknown>): void => {
    state.noteClient(result)
    state.note(result)
  }
  return {
    clockSkewMs: provider.clockSkewMs,
    ratePerMinute: provider.ratePerMinute,
    hasAnswered: provider.hasAnswered,
    authorizeUrl: provider.authorizeUrl,
    exchangeCode: observe('exchange_code', provider.exchangeCode, noteClient),
    exchangeJwt: observe('exchange_jwt', provider.exchangeJwt, noteClient),
    refresh: observe('refresh', provider.refresh, noteClient),
    revoke: observe('revoke', provider.revoke),
    getExtension: observe('get_extension', provider.getExtension),
    listNumbers: observe('list_numbers', provider.listNumbers),
    readCampaign: observe('read_campaign', provider.readCampaign),
    sendSms: observe('send_sms', provider.sendSms),
    listMessages: observe('list_messages', provider.listMessages),
    readThreadsFeature: observe('read_features', provider.readThreadsFeature),
    listConsents: observe('list_consents', provider.listConsents),
    listThreadMessages: observe('list_thread_messages', provider.listThreadMessages),
    startThreadSync: observe('start_thread_sync', provider.startThreadSync),
    syncThreads: observe('sync_threads', provider.syncThreads),
    // Other hosts serve attachments and sockets; their silence does not mean that the provider is unreachable.
    readAttachment: provider.readAttachment,
    createSubscription: observe('create_subscription', provider.createSubscription),
    getSubscription: observe('get_subscription', provider.getSubscription),
    listSubscriptions: observe('list_subscriptions', provider.listSubscriptions),
    renewSubscription: observe('renew_subscription', provider.renewSubscription),
    deleteSubscription: observe('delete_subscription', provider.deleteSubscription),
    openEventSocket: observe('open_event_socket', provider.openEventSocket, () => undefined),
    parseInboundEvent: provider.parseInboundEvent,
    probeAuthorize: observe('probe_authorize', provider.probeAuthorize),
    fixOf: provider.fixOf,
    isStanding: provider.isStanding,
  }
}

const observerOf =
  ({ meter, clock, state, lease }: Observers) =>
  <Args extends unknown[], Value>(
    operation: string,
    call: (...args: Args) => Promise<ProviderResult<Value>>,
    note: (result: ProviderResult<Value>) => void = (result) => state.note(result),
  ) =>
  async (...args: Args): Promise<ProviderResult<Value>> => {
    const granted = lease?.granted()
    if (granted !== undefined) await granted
    const startedAt = clock.monotonic()
    const result = await call(...args)
    meter.providerCall(operation, result.ok ? 'ok' : result.failure.reason, clock.monotonic() - startedAt)
    note(result)
    return result
  }
