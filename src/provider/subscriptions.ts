import type { Clock } from '../core/clock.ts'
import type { Ids } from '../core/ids.ts'
import type { Log } from '../core/log.ts'
import type { Secrets } from '../core/secrets.ts'
import type { Gate } from '../db/gate.ts'
import type { Writer } from '../db/writer.ts'
import type { ExtensionKey } from './extension-rows.ts'
import type { Provider, ProviderFailure, ProviderSubscription } from './provider.ts'
import type { Quota } from './quota.ts'
import type { CallResult, Session } from './session.ts'
import { type Grant, grantOf, grantedAtOf, halfLifeMs, isSound, unsound } from './subscription-life.ts'
import { Retries } from './subscription-retries.ts'

/**
 * `kept`: there was an Active one. `created`: there was none for a while, so events may have been missed. `waiting`: a pause
 * that the provider asked for, or a refresh, is in the way.
 */
export type Ensured = 'kept' | 'created' | 'waiting' | 'failed'

export interface SubscriptionsContext {
  provider: Provider
  session: Session
  quota: Quota
  gate: Gate
  writer: Writer
  secrets: Secrets
  ids: Ids
  clock: Clock
  log: Log
  /** Public address of `POST /v1/webhooks/provider`. */
  address(): string
  /** False also while its tenant is being disconnected. */
  isConnected(key: ExtensionKey): Promise<boolean>
  /** Called after the commit that changed or deleted rows. */
  changed(): void
}

/** The webhook subscriptions at the provider: exactly one Active one per extension, renewed in time. */
export class Subscriptions {
  /** Told after each run how long until the next one: a retry after a failure, or the renewal. */
  planned: (key: ExtensionKey, nextMs: number) => void = () => undefined
  readonly #retries = new Retries()
  readonly #ensuring = new Map<string, Promise<Ensured>>()
  /** The last run of each extension. */
  readonly #lines = new Map<string, Promise<unknown>>()

  constructor(readonly context: SubscriptionsContext) {}

  /**
   * Makes what the provider has match what we want: renews ours, deletes strays of a crash or an unclear answer, and
   * creates one when there is none. Calls for one extension share one run.
   */
  ensure(key: ExtensionKey): Promise<Ensured> {
    const name = nameOf(key)
    const running = this.#ensuring.get(name)
    if (running !== undefined) return running
    const run = this.#inTurn(key.extensionId, () => this.#planning(key)).finally(() => this.#ensuring.delete(name))
    this.#ensuring.set(name, run)
    return run
  }

  /** Why the last run of this extension failed, where the provider refused something. */
  refusal(key: ExtensionKey): ProviderFailure | null {
    return this.#retries.failure(nameOf(key))
  }

  /** Two tenants may share an extension: what is being made for one looks like a stray to the other. */
  #inTurn<T>(extensionId: string, work: () => Promise<T>): Promise<T> {
    const run = this.#lines.get(extensionId)?.then(work) ?? work()
    const ended: Promise<void> = Promise.allSettled([run]).then(() => {
      if (this.#lines.get(extensionId) === ended) this.#lines.delete(extensionId)
    })
    this.#lines.set(extensionId, ended)
    return run
  }

  /** Deletes all of an extension's subscriptions at the provider, as far as it answers. */
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
      if (ensured === 'kept' || ensured === 'created' || nextMs === null) this.#retries.clear(name)
      const plannedMs = ensured === 'failed' && nextMs !== null ? this.#retries.delayMs(name, failure) : nextMs
      if (plannedMs !== null) this.planned(key, plannedMs)
      return ensured
    } catch (error) {
      this.planned(key, this.#retries.delayMs(name))
      throw error
    }
  }

  async #ensure(key: ExtensionKey): Promise<Outcome> {
    // A run that waited behind `remove` would make a subscription that nobody deletes.
    if (!(await this.context.isConnected(key))) return { ensured: 'failed', nextMs: null }
    const listed = await this.#list(key)
    if (listed.type !== 'ok') return this.#failed(key, 'list', listed)
    const known = await this.#known(key)
    const good = listed.value.find((subscription) => known.has(subscription.subscriptionId) && isSound(subscription))
    for (const stray of listed.value) if (stray !== good) await this.#delete(key, stray)
    if (good === undefined) return this.#create(key)
    const now = this.context.clock.now()
    const grantedAt = grantedAtOf(known.get(good.subscriptionId), good.expiresAt) ?? now
    return halfLifeMs(good.expiresAt, grantedAt, now) <= 0 ? this.#renew(key, good) : this.#keep(key, good, grantedAt)
  }

  /** The token is committed before the provider is asked: its handshake and first events come before its answer. */
  async #create(key: ExtensionKey): Promise<Outcome> {
    const { provider, session, quota, ids, secrets, writer, clock } = this.context
    const id = ids.of('sub')
    const verificationToken = ids.secret()
    await writer.write([
      {
        sql: `UPDATE subscriptions SET status = 'pending' WHERE tenant_id = ?1 AND extension_id = ?2`,
        args: [key.tenantId, key.extensionId],
      },
      {
        sql: `INSERT INTO subscriptions (id, tenant_id, extension_id, token_hash, status, created_at) VALUES (?1, ?2, ?3, ?4, 'pending', ?5)`,
        args: [id, key.tenantId, key.extensionId, secrets.hash(verificationToken), clock.now()],
      },
    ])
    quota.count(key.extensionId)
    const created = await session.call(key, 'medium', (token) =>
      provider.createSubscription(token, { address: this.context.address(), verificationToken }),
    )
    if (created.type !== 'ok') {
      // Only one that the provider may have made after all can still bring events.
      const isOpen = created.type === 'failed' && created.failure.reason === 'ambiguous'
      const sql = 'DELETE FROM subscriptions WHERE id = ?1 AND tenant_id = ?2'
      if (!isOpen) await writer.write([{ sql, args: [id, key.tenantId] }])
      return this.#failed(key, 'create', created)
    }
    const { subscriptionId, expiresAt } = created.value
    const now = clock.now()
    await writer.write([
      {
        sql: 'UPDATE subscriptions SET provider_id = ?2, status = ?3, expires_at = ?4, checked_at = ?5 WHERE id = ?1',
        args: [id, subscriptionId, isSound(created.value) ? 'active' : 'pending', expiresAt, now],
      },
      {
        sql: 'DELETE FROM subscriptions WHERE tenant_id = ?1 AND extension_id = ?2 AND id != ?3',
        args: [key.tenantId, key.extensionId, id],
      },
    ])
    this.context.changed()
    if (isSound(created.value)) return { ensured: 'created', nextMs: halfLifeMs(expiresAt, now, now) }
    return this.#failed(key, 'create', { type: 'failed', failure: unsound(created.value) })
  }

  async #renew(key: ExtensionKey, subscription: ProviderSubscription): Promise<Outcome> {
    const { provider, session, clock } = this.context
    const renewed = await session.call(key, 'light', (token) =>
      provider.renewSubscription(token, subscription.subscriptionId),
    )
    return renewed.type === 'ok' ? this.#keep(key, renewed.value, clock.now()) : this.#failed(key, 'renew', renewed)
  }

  /** `checked_at` is when the provider granted the life that ends at `expires_at`. */
  async #keep(key: ExtensionKey, subscription: ProviderSubscription, grantedAt: number): Promise<Outcome> {
    const { subscriptionId, expiresAt } = subscription
    const sql = `UPDATE subscriptions SET expires_at = ?3, checked_at = ?4, status = 'active' WHERE tenant_id = ?1 AND provider_id = ?2`
    await this.context.writer.write([{ sql, args: [key.tenantId, subscriptionId, expiresAt, grantedAt] }])
    return { ensured: 'kept', nextMs: halfLifeMs(expiresAt, grantedAt, this.context.clock.now()) }
  }

  /** Those that point to this gateway; an extension may serve other programs too. */
  async #list(key: ExtensionKey): Promise<CallResult<ProviderSubscription[]>> {
    const { provider, session } = this.context
    const address = this.context.address()
    const listed = await session.call(key, 'light', (token) => provider.listSubscriptions(token))
    if (listed.type !== 'ok') return listed
    return { type: 'ok', value: listed.value.filter((subscription) => subscription.address === address) }
  }

  /** One whose token no key of the ring can check any more is as good as lost. */
  async #known(key: ExtensionKey): Promise<Map<string, Grant>> {
    const { rows } = await this.context.gate.execute({
      sql: 'SELECT provider_id, token_hash, expires_at, checked_at FROM subscriptions WHERE tenant_id = ?1 AND extension_id = ?2 AND provider_id IS NOT NULL',
      args: [key.tenantId, key.extensionId],
    })
    const checkable = rows.filter((row) => this.context.secrets.isKnown(String(row['token_hash'])))
    return new Map(checkable.map((row) => [String(row['provider_id']), grantOf(row['expires_at'], row['checked_at'])]))
  }

  async #delete(key: ExtensionKey, subscription: ProviderSubscription): Promise<void> {
    const { provider, session, quota } = this.context
    if (await this.#isOfAnotherTenant(key, subscription.subscriptionId)) return
    quota.count(key.extensionId)
    await session.call(key, 'medium', (token) => provider.deleteSubscription(token, subscription.subscriptionId))
  }

  /** One extension may be connected to two tenants of this gateway, each with a subscription of its own. */
  async #isOfAnotherTenant(key: ExtensionKey, providerId: string): Promise<boolean> {
    const sql = 'SELECT 1 FROM subscriptions WHERE provider_id = ?1 AND tenant_id != ?2'
    const { rows } = await this.context.gate.execute({ sql, args: [providerId, key.tenantId] })
    return rows.length > 0
  }

  /** A failure is left to the caller, who knows its fix. */
  #failed(key: ExtensionKey, step: string, result: Exclude<CallResult<never>, { type: 'ok' }>): Outcome {
    const { tenantId, extensionId } = key
    if (result.type === 'failed') return { ensured: 'failed', nextMs: 0, failure: result.failure }
    this.context.log.info(
      { tenantId, extensionId, step, result: result.type },
      'subscription for inbound messages waits',
    )
    if (result.type === 'gone') return { ensured: 'failed', nextMs: null }
    return { ensured: 'waiting', nextMs: Math.max(MIN_WAIT_MS, result.retryInMs) }
  }
}

/** What came of a run, and how long until the next one should come; null: never by itself. */
interface Outcome {
  ensured: Ensured
  nextMs: number | null
  failure?: ProviderFailure
}

const MIN_WAIT_MS = 1000

const nameOf = (key: ExtensionKey): string => `${key.tenantId}/${key.extensionId}`
