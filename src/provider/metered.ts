import type { Clock } from '../core/clock.ts'
import { type Meter, noMeter } from '../core/meter.ts'
import type { Provider, ProviderResult } from './provider.ts'

/** Wraps a provider so that each call is reported with its outcome and duration. */
export function metered(provider: Provider, meter: Meter, clock: Clock): Provider {
  if (meter === noMeter) return provider
  const timed =
    <Args extends unknown[], Value>(operation: string, call: (...args: Args) => Promise<ProviderResult<Value>>) =>
    async (...args: Args): Promise<ProviderResult<Value>> => {
      const startedAt = clock.monotonic()
      const result = await call(...args)
      meter.providerCall(operation, result.ok ? 'ok' : result.failure.reason, clock.monotonic() - startedAt)
      return result
    }
  return {
    clockSkewMs: provider.clockSkewMs,
    authorizeUrl: provider.authorizeUrl,
    exchangeCode: timed('exchange_code', provider.exchangeCode),
    refresh: timed('refresh', provider.refresh),
    revoke: timed('revoke', provider.revoke),
    getExtension: timed('get_extension', provider.getExtension),
    listSmsNumbers: timed('list_numbers', provider.listSmsNumbers),
    sendSms: timed('send_sms', provider.sendSms),
    listMessages: timed('list_messages', provider.listMessages),
    createSubscription: timed('create_subscription', provider.createSubscription),
    getSubscription: timed('get_subscription', provider.getSubscription),
    listSubscriptions: timed('list_subscriptions', provider.listSubscriptions),
    renewSubscription: timed('renew_subscription', provider.renewSubscription),
    deleteSubscription: timed('delete_subscription', provider.deleteSubscription),
    parseInboundEvent: provider.parseInboundEvent,
    probeAuthorize: timed('probe_authorize', provider.probeAuthorize),
    fixOf: provider.fixOf,
    isStanding: provider.isStanding,
  }
}
