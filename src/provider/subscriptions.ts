import type { Clock } from '../core/clock.ts'
import type { Ids } from '../core/ids.ts'
import type { Log } from '../core/log.ts'
import type { Secrets } from '../core/secrets.ts'
import type { Orm } from '../db/orm.ts'
import type { Topic } from '../db/schema/connections.ts'
import type { ExtensionRow } from './directory.ts'
import { type ExtensionKey, nameOf } from './extension-rows.ts'
import type { Ensured, InboundSubscriptions } from './inbound-subscriptions.ts'
import type { ProviderSubscription } from './provider-subscription.ts'
import type { Provider, ProviderFailure } from './provider.ts'
import type { Quota } from './quota.ts'
import type { CallResult, ExtensionCalls } from './extension-calls.ts'
import { markAllClosed } from './socket-rows.ts'
import { type Grant, grantedAtOf, halfLifeMs, isSound, unsound } from './subscription-life.ts'
import {
  completeSubscription,
  deleteOtherSubscriptions,
  deleteSubscription,
  demoteSubscriptions,
  insertSubscription,
  isOfAnotherTenant,
  ofTopic,
  readSubscriptions,
  renewSubscription,
} from './subscription-rows.ts'
import { SubscriptionRetries } from './subscription-retries.ts'
import { isPerhapsSame, isSameAddress } from './webhook-address.ts'

export interface SubscriptionsContext {
  topic: Topic
  provider: Provider
  extensionCalls: ExtensionCalls
  quota: Quota
  orm: Orm
  secrets: Secrets
  ids: Ids
  clock: Clock
  log: Log
  /** Where the provider posts events. */
  address(): string
  /** The same, for people. */
  shownAddress(): string
  /** Null if it is not connected, or if its tenant is being disconnected. */
  connected(key: ExtensionKey): Promise<ExtensionRow | null>
  /** Called after the commit that changed or deleted rows. */
  changed(): void
}

/** The webhook subscriptions of a topic at the provider: exactly one Active one per extension, renewed in time. */
export class Subscriptions implements InboundSubscriptions {
  planned: InboundSubscriptions['planned'] = () => undefined
  /** Their events arrive at `POST /v1/webhooks/provider`. */
  receive: InboundSubscriptions['receive'] = () => Promise.resolve()
  readonly #retries = new SubscriptionRetries()
  readonly #ensuring = new Map<string, Promise<Ensured>>()
  /** The last run of each extension. */
  readonly #lastRuns = new Map<string, Promise<unknown>>()

  constructor(readonly context: SubscriptionsContext) {}

  /**
   * Makes sure that the extension has exactly one Active subscription: renews the gateway's own, deletes orphans of a crash or
   * of an ambiguous answer, and creates one if there is none. Concurrent calls for an extension share one run.
   */
  ensure(key: ExtensionKey): Promise<Ensured> {
    const name = nameOf(key)
    const running = this.#ensuring.get(name)
    if (running !== undefined) return running
    const run = this.#inTurn(key.extensionId, () => this.#planning(key)).finally(() => this.#ensuring.delete(name))
    this.#ensuring.set(name, run)
    return run
  }

  /** The provider's refusal in the last run of this extension; null if there was none. */
  refusal(key: ExtensionKey): ProviderFailure | null {
    return this.#retries.failure(nameOf(key))
  }

  /** Runs of one extension take turns: if two tenants share it, a subscription being made for one looks like an orphan to the other. */
  #inTurn<T>(extensionId: string, work: () => Promise<T>): Promise<T> {
    const run = this.#lastRuns.get(extensionId)?.then(work) ?? work()
    const ended: Promise<void> = Promise.allSettled([run]).then(() => {
      if (this.#lastRuns.get(extensionId) === ended) this.#lastRuns.delete(extensionId)
    })
    this.#lastRuns.set(extensionId, ended)
    return run
  }

  get advice(): InboundSubscriptions['advice'] {
    return {
      needs: `the provider must be able to reach ${this.context.shownAddress()}`,
      byItself: 'the gateway creates a missing subscription again',
    }
  }

  /** They outlive the process, unlike the sockets that it had if RC_EVENTS was `websocket`. */
  async recover(): Promise<void> {
    await markAllClosed(this.context.orm, this.context.clock.now())
  }

  /** The periodic run lists them at the provider anyway. */
  overlooked(): void {}

  /** A webhook belongs to the user and the app. */
  sessionChanged(): void {}

  usesReplacedSession(): boolean {
    return false
  }

  stop(): Promise<void> {
    return Promise.resolve()
  }

  remove(key: ExtensionKey): Promise<void> {
    return this.#inTurn(key.extensionId, () => this.#remove(key))
  }

  async #remove(key: ExtensionKey): Promise<void> {
    this.#retries.clear(nameOf(key))
    const listed = await this.#list(key)
    if (listed.type === 'ok') for (const subscription of listed.value) await this.#delete(key, subscription)
  }

  async #planning(key: ExtensionKey): Promise<Ensured> {
    const name = nameOf(key)
    try {
      const { ensured, nextMs, failure } = await this.#ensure(key)
      const isActive = ensured === 'kept' || ensured === 'created'
      if (isActive || nextMs === null) this.#retries.clear(name)
      const plannedMs = ensured === 'failed' && nextMs !== null ? this.#retries.delayMs(name, failure) : nextMs
      if (plannedMs !== null) this.planned(key, plannedMs, isActive)
      return ensured
    } catch (error) {
      this.planned(key, this.#retries.delayMs(name), false)
      throw error
    }
  }

  async #ensure(key: ExtensionKey): Promise<Outcome> {
    // A run that waited behind `remove` would create a subscription that nobody deletes.
    if ((await this.context.connected(key)) === null) return { ensured: 'failed', nextMs: null }
    const listed = await this.#list(key)
    if (listed.type !== 'ok') return this.#failed(key, 'list', listed)
    const known = await this.#known(key)
    const good = listed.value.find((subscription) => known.has(subscription.subscriptionId) && isSound(subscription))
    for (const orphan of listed.value) if (orphan !== good) await this.#delete(key, orphan)
    if (good === undefined) return this.#create(key)
    const now = this.context.clock.now()
    const grantedAt = grantedAtOf(known.get(good.subscriptionId), good.expiresAt) ?? now
    return halfLifeMs(good.expiresAt, grantedAt, now) <= 0 ? this.#renew(key, good) : this.#keep(key, good, grantedAt)
  }

  /** Commits the token before the call, because the handshake and the first events arrive before the answer. */
  async #create(key: ExtensionKey): Promise<Outcome> {
    const { topic, provider, extensionCalls, quota, ids, secrets, orm, clock } = this.context
    const id = ids.of('sub')
    const verificationToken = ids.secret()
    await orm.batch([
      demoteSubscriptions(orm, ofTopic(key, this.context.topic)),
      insertSubscription(orm, ofTopic(key, this.context.topic), id, secrets.hash(verificationToken), clock.now()),
    ])
    quota.count(key.extensionId)
    const created = await extensionCalls.make(key, 'medium', (token) =>
      provider.createSubscription(token, { address: this.context.address(), verificationToken, topic }),
    )
    if (created.type !== 'ok') {
      // The row stays only if the provider may have created the subscription after all, so that its events are accepted.
      const isOpen = created.type === 'failed' && created.failure.reason === 'ambiguous'
      if (!isOpen) await deleteSubscription(orm, key, id)
      return this.#failed(key, 'create', created)
    }
    const { subscriptionId, expiresAt } = created.value
    const now = clock.now()
    const status = isSound(created.value) ? 'active' : 'pending'
    await orm.batch([
      completeSubscription(orm, key, id, { providerId: subscriptionId, status, expiresAt, checkedAt: now }),
      deleteOtherSubscriptions(orm, ofTopic(key, this.context.topic), id),
    ])
    this.context.changed()
    if (isSound(created.value)) return { ensured: 'created', nextMs: halfLifeMs(expiresAt, now, now) }
    return this.#failed(key, 'create', { type: 'failed', failure: unsound(created.value) })
  }

  async #renew(key: ExtensionKey, subscription: ProviderSubscription): Promise<Outcome> {
    const { provider, extensionCalls, clock } = this.context
    const renewed = await extensionCalls.make(key, 'light', (token) =>
      provider.renewSubscription(token, subscription.subscriptionId),
    )
    return renewed.type === 'ok' ? this.#keep(key, renewed.value, clock.now()) : this.#failed(key, 'renew', renewed)
  }

  async #keep(key: ExtensionKey, subscription: ProviderSubscription, grantedAt: number): Promise<Outcome> {
    const { subscriptionId, expiresAt } = subscription
    await renewSubscription(this.context.orm, key, subscriptionId, { expiresAt, checkedAt: grantedAt })
    return { ensured: 'kept', nextMs: halfLifeMs(expiresAt, grantedAt, this.context.clock.now()) }
  }

  /** The subscriptions that point to this gateway. An extension may have others, from other programs. */
  async #list(key: ExtensionKey): Promise<CallResult<ProviderSubscription[]>> {
    const { provider, extensionCalls, orm } = this.context
    const own = this.context.address()
    const listed = await extensionCalls.make(key, 'light', (token) => provider.listSubscriptions(token))
    if (listed.type !== 'ok') return listed
    const ids = new Set((await readSubscriptions(orm, ofTopic(key, this.context.topic))).map((row) => row.providerId))
    // A stored one may still lead to this gateway's previous address.
    const pointsHere = ({ subscriptionId, address }: ProviderSubscription): boolean =>
      ids.has(subscriptionId) ? isPerhapsSame(address, own) : isSameAddress(address, own)
    const { topic } = this.context
    return { type: 'ok', value: listed.value.filter((one) => one.topic === topic && pointsHere(one)) }
  }

  /** Stored grants by the provider's id. Omits subscriptions whose token no encryption key can check anymore. */
  async #known(key: ExtensionKey): Promise<Map<string, Grant>> {
    const { orm, secrets } = this.context
    const rows = (await readSubscriptions(orm, ofTopic(key, this.context.topic))).filter((row) =>
      secrets.isKnown(row.tokenHash),
    )
    return new Map(rows.map((row) => [row.providerId ?? '', { expiresAt: row.expiresAt, grantedAt: row.checkedAt }]))
  }

  async #delete(key: ExtensionKey, subscription: ProviderSubscription): Promise<void> {
    const { provider, extensionCalls, quota, orm } = this.context
    // One extension may be connected to two tenants of this gateway, each with its own subscription.
    if (await isOfAnotherTenant(orm, key, subscription.subscriptionId)) return
    quota.count(key.extensionId)
    await extensionCalls.make(key, 'medium', (token) => provider.deleteSubscription(token, subscription.subscriptionId))
  }

  /** Logs a wait. The caller logs a failure, with its fix. */
  #failed(key: ExtensionKey, step: string, result: Exclude<CallResult<never>, { type: 'ok' }>): Outcome {
    const { tenantId, extensionId } = key
    if (result.type === 'failed') return { ensured: 'failed', nextMs: 0, failure: result.failure }
    this.context.log.info(
      { tenantId, extensionId, step, result: result.type },
      'subscription for inbound messages waits',
    )
    if (result.type === 'gone') return { ensured: 'failed', nextMs: null }
    return { ensured: 'waiting', nextMs: this.#retries.waitMs(nameOf(key), result) }
  }
}

/** The result of a run, and the time until the next one; null if none is planned. */
interface Outcome {
  ensured: Ensured
  nextMs: number | null
  failure?: ProviderFailure
}
