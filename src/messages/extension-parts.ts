import { SubscriptionTokens } from '../auth/subscription-tokens.ts'
import type { Clock } from '../core/clock.ts'
import type { Config } from '../core/config.ts'
import type { Ids } from '../core/ids.ts'
import type { Log } from '../core/log.ts'
import { localUrl } from '../core/network-config.ts'
import type { Secrets } from '../core/secrets.ts'
import type { Database } from '../db/database.ts'
import { ClockCheck } from '../provider/clock-check.ts'
import { untriedJwt } from '../provider/configured-jwt.ts'
import { Directory, type ExtensionRow } from '../provider/directory.ts'
import { ExtensionCalls } from '../provider/extension-calls.ts'
import type { Topic } from '../db/schema/connections.ts'
import type { ExtensionKey } from '../provider/extension-rows.ts'
import type { InboundSubscriptions } from '../provider/inbound-subscriptions.ts'
import { MessageListings } from '../provider/message-listings.ts'
import { Numbers } from '../provider/numbers.ts'
import type { Provider } from '../provider/provider.ts'
import { Quota } from '../provider/quota.ts'
import { ReplacedSessions } from '../provider/replaced-sessions.ts'
import { sendLimitOf } from '../provider/send-limit.ts'
import { SocketSubscriptions, type SocketSubscriptionsContext } from '../provider/socket-subscriptions.ts'
import { Subscriptions, type SubscriptionsContext } from '../provider/subscriptions.ts'
import { Tokens } from '../provider/tokens.ts'
import { AccountConsents } from './opt-outs/account-consents.ts'

export interface ExtensionContext {
  config: Config
  clock: Clock
  ids: Ids
  log: Log
  database: Database
  provider: Provider
  secrets: Secrets
}

/** The parts that deal with connected extensions. They call `changed` after any change that a message may wait for. */
export function extensionParts(parts: ExtensionContext, changed: (tenantId: string) => void) {
  const { config, clock, log, database, provider, secrets, ids } = parts
  const { orm } = database
  const directory = new Directory(orm)
  const quota = new Quota(clock, {
    fromPerMinute: config.fromLimitPerMinute,
    extensionPerMinute: () => sendLimitOf(config, provider).perMinute,
  })
  const shared = { provider, directory, orm, secrets, ids, clock, log }
  const tokens = new Tokens({
    ...shared,
    quota,
    untilStored: () => database.untilStored(),
    changed: ({ tenantId }) => changed(tenantId),
    sessionOpened: (key) => sessionChanged(key),
  })
  const extensionCalls = new ExtensionCalls(tokens, quota, orm, clock)
  const subscriptionTokens = new SubscriptionTokens({ orm, secrets })
  const subscribing = { ...shared, extensionCalls, quota, changed: () => subscriptionTokens.forget() }
  const connected = async ({ tenantId, extensionId }: ExtensionKey): Promise<ExtensionRow | null> =>
    directory.isDisconnecting(tenantId, extensionId) ? null : directory.extension(tenantId, extensionId)
  const { sessionChanged, ...receiving } = receivingParts(config, { ...subscribing, connected })
  return {
    clockCheck: new ClockCheck(clock, provider),
    configuredJwt: untriedJwt(config.provider),
    directory,
    quota,
    tokens,
    extensionCalls,
    messageListings: new MessageListings({ ...shared, extensionCalls }),
    numbers: new Numbers({ ...shared, extensionCalls }),
    ...receiving,
    replacedSessions: new ReplacedSessions({ ...shared, quota }),
    subscriptionTokens,
  }
}

type Subscribing = Omit<
  SubscriptionsContext & SocketSubscriptionsContext,
  'topic' | keyof ReturnType<typeof webhookAddresses>
>

/** The parts that bring events: of messages, and if there are any, of message threads and of consents. */
function receivingParts(config: Config, subscribing: Subscribing) {
  const of = (topic: Topic): InboundSubscriptions =>
    config.provider.events === 'websocket'
      ? new SocketSubscriptions({ ...subscribing, topic })
      : new Subscriptions({ ...subscribing, ...webhookAddresses(config), topic })
  const all = {
    subscriptions: of('messages'),
    threadSubscriptions: of('threads'),
    consentSubscriptions: of('consents'),
  }
  return {
    ...all,
    consents: new AccountConsents(),
    /** Called when an event has reported news in an extension's threads. */
    threads: { changed: (_key: ExtensionKey): void => undefined },
    sessionChanged: (key: ExtensionKey): void => {
      for (const one of Object.values(all)) one.sessionChanged(key)
    },
  }
}

/**
 * The built-in simulator runs in this process and may not be able to reach the public address. The system may choose the port when the gateway
 * listens.
 */
function webhookAddresses(config: Config): { address: () => string; shownAddress: () => string } {
  const path = '/v1/webhooks/provider'
  const address = (): string => `${config.provider.simulated ? localUrl(config) : config.publicUrl}${path}`
  return { address, shownAddress: () => `${config.publicUrl}${path}` }
}
