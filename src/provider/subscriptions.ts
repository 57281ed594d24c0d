import type { Clock } from '../core/clock.ts'
import type { Ids } from '../core/ids.ts'
import type { Log } from '../core/log.ts'
import type { Secrets } from '../core/secrets.ts'
import type { Gate } from '../db/gate.ts'
import type { Writer } from '../db/writer.ts'
import type { ExtensionKey } from './extension-rows.ts'
import type { Provider, ProviderSubscription } from './provider.ts'
import type { Quota } from './quota.ts'
import type { CallResult, Session } from './session.ts'

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
  /** Called after the commit that changed or deleted rows. */
  changed(): void
}

/** The contract's life of a subscription, and when it is renewed. */
const LIFE_MS = 7 * 86_400_000
const RENEW_BELOW_MS = LIFE_MS / 2

/** The webhook subscriptions at the provider: exactly one Active one per extension, renewed in time. */
export class Subscriptions {
  readonly #ensuring = new Map<string, Promise<Ensured>>()
  /** The last run of each extension. */
  readonly #lines = new Map<string, Promise<unknown>>()

  constructor(readonly context: SubscriptionsContext) {}

  /**
   * Makes what the provider has match what we want: renews ours, deletes strays of a crash or an unclear answer, and
   * creates one when there is none. Calls for one extension share one run.
   */
  ensure(key: ExtensionKey): Promise<Ensured> {
    const name = `${key.tenantId}/${key.extensionId}`
    const running = this.#ensuring.get(name)
    if (running !== undefined) return running
    const run = this.#inTurn(key.extensionId, () => this.#ensure(key)).finally(() => this.#ensuring.delete(name))
    this.#ensuring.set(name, run)
    return run
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
    const listed = await this.#list(key)
    if (listed.type === 'ok') for (const subscription of listed.value) await this.#delete(key, subscription)
  }

  async #ensure(key: ExtensionKey): Promise<Ensured> {
    const listed = await this.#list(key)
    if (listed.type !== 'ok') return this.#failed(key, 'list', listed)
    const known = await this.#known(key)
    const good = listed.value.find((subscription) => known.has(subscription.subscriptionId) && isSound(subscription))
    for (const stray of listed.value) if (stray !== good) await this.#delete(key, stray)
    if (good === undefined) return this.#create(key)
    return good.expiresAt - this.context.clock.now() < RENEW_BELOW_MS ? this.#renew(key, good) : this.#note(key, good)
  }

  /** The token is committed before the provider is asked: its handshake and first events come before its answer. */
  async #create(key: ExtensionKey): Promise<Ensured> {
    const { provider, session, quota, ids, secrets, writer, clock } = this.context
    const id = ids.of('sub')
    const verificationToken = ids.secret()
    await writer.write([
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
    await writer.write([
      {
        sql: `UPDATE subscriptions SET provider_id = ?2, status = 'active', expires_at = ?3, checked_at = ?4 WHERE id = ?1`,
        args: [id, created.value.subscriptionId, created.value.expiresAt, clock.now()],
      },
      {
        sql: 'DELETE FROM subscriptions WHERE tenant_id = ?1 AND extension_id = ?2 AND id != ?3',
        args: [key.tenantId, key.extensionId, id],
      },
    ])
    this.context.changed()
    if (isSound(created.value)) return 'created'
    this.context.log.warn(
      { extensionId: key.extensionId, status: created.value.status },
      'subscription was created but is not active',
    )
    return 'failed'
  }

  async #renew(key: ExtensionKey, subscription: ProviderSubscription): Promise<Ensured> {
    const { provider, session } = this.context
    const renewed = await session.call(key, 'light', (token) =>
      provider.renewSubscription(token, subscription.subscriptionId),
    )
    return renewed.type === 'ok' ? this.#note(key, renewed.value) : this.#failed(key, 'renew', renewed)
  }

  async #note(key: ExtensionKey, subscription: ProviderSubscription): Promise<Ensured> {
    const sql = 'UPDATE subscriptions SET expires_at = ?3, checked_at = ?4 WHERE tenant_id = ?1 AND provider_id = ?2'
    await this.context.writer.write([
      { sql, args: [key.tenantId, subscription.subscriptionId, subscription.expiresAt, this.context.clock.now()] },
    ])
    return 'kept'
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
  async #known(key: ExtensionKey): Promise<Set<string>> {
    const { rows } = await this.context.gate.execute({
      sql: 'SELECT provider_id, token_hash FROM subscriptions WHERE tenant_id = ?1 AND extension_id = ?2 AND provider_id IS NOT NULL',
      args: [key.tenantId, key.extensionId],
    })
    const checkable = rows.filter((row) => this.context.secrets.isKnown(String(row['token_hash'])))
    return new Set(checkable.map((row) => String(row['provider_id'])))
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

  #failed(key: ExtensionKey, step: string, result: Exclude<CallResult<never>, { type: 'ok' }>): 'waiting' | 'failed' {
    const failure = result.type === 'failed' ? result.failure : null
    this.context.log.warn(
      {
        tenantId: key.tenantId,
        extensionId: key.extensionId,
        step,
        result: result.type,
        status: failure?.status,
        code: failure?.code,
        requestId: failure?.requestId,
      },
      'subscription for inbound messages could not be kept up, trying again',
    )
    return result.type === 'waiting' ? 'waiting' : 'failed'
  }
}

const isSound = (subscription: ProviderSubscription): boolean =>
  subscription.status === 'Active' && subscription.disabledFilters === 0
