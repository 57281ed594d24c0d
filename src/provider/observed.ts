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

/** Wraps a provider so that each call is made with the lease alone, and reported with its outcome and duration. */
export function observed(provider: Provider, { meter, clock, state, lease }: Observers): Provider {
  const metered =
    <Args extends unknown[], Value>(operation: string, call: (...args: Args) => Promise<ProviderResult<Value>>) =>
    async (...args: Args): Promise<ProviderResult<Value>> => {
      const granted = lease?.granted()
      if (granted !== undefined) await granted
      const startedAt = clock.monotonic()
      const result = await call(...args)
      meter.providerCall(operation, result.ok ? 'ok' : result.failure.reason, clock.monotonic() - startedAt)
      return result
    }
  const noted =
    <Args extends unknown[], Value>(call: (...args: Args) => Promise<ProviderResult<Value>>) =>
    async (...args: Args): Promise<ProviderResult<Value>> => {
      const result = await call(...args)
      state.note(result)
      return result
    }
  const timed = <Args extends unknown[], Value>(
    operation: string,
    call: (...args: Args) => Promise<ProviderResult<Value>>,
  ) => noted(metered(operation, call))
  const asClient =
    <Args extends unknown[], Value>(call: (...args: Args) => Promise<ProviderResult<Value>>) =>
    async (...args: Args): Promise<ProviderResult<Value>> => {
      const result = await call(...args)
      state.noteClient(result)
      return result
    }
  return {
    clockSkewMs: provider.clockSkewMs,
    ratePerMinute: provider.ratePerMinute,
    hasAnswered: provider.hasAnswered,
    authorizeUrl: provider.authorizeUrl,
    exchangeCode: timed('exchange_code', asClient(provider.exchangeCode)),
    exchangeJwt: timed('exchange_jwt', asClient(provider.exchangeJwt)),
    refresh: timed('refresh', asClient(provider.refresh)),
    revoke: timed('revoke', provider.revoke),
    getExtension: timed('get_extension', provider.getExtension),
    listSmsNumbers: timed('list_numbers', provider.listSmsNumbers),
    sendSms: timed('send_sms', provider.sendSms),
    listMessages: timed('list_messages', provider.listMessages),
    // Other hosts serve attachments and sockets, whose silence does not mean that the provider is away.
    readAttachment: provider.readAttachment,
    createSubscription: timed('create_subscription', provider.createSubscription),
    getSubscription: timed('get_subscription', provider.getSubscription),
    listSubscriptions: timed('list_subscriptions', provider.listSubscriptions),
    renewSubscription: timed('renew_subscription', provider.renewSubscription),
    deleteSubscription: timed('delete_subscription', provider.deleteSubscription),
    openEventSocket: metered('open_event_socket', provider.openEventSocket),
    parseInboundEvent: provider.parseInboundEvent,
    probeAuthorize: timed('probe_authorize', provider.probeAuthorize),
    fixOf: provider.fixOf,
    isStanding: provider.isStanding,
  }
}
