import type { Clock } from '../core/clock.ts'
import type { Orm } from '../db/orm.ts'
import type { Ids } from '../core/ids.ts'
import { type Directory, type TenantEntry, listedBy } from './directory.ts'
import type { ExtensionKey } from './extension-rows.ts'
import { CHANGE_SETTLE_MS, sharedBy, sourceFor } from './inbound-source.ts'
import type { LocalNumber, SmsNumber } from './listed-numbers.ts'
import type { ThreadsFeature } from './message-threads.ts'
import { NO_SMS_NUMBER, type Provider, type ProviderFailure } from './provider.ts'
import type { CallResult, ExtensionCalls } from './extension-calls.ts'
import { isDirect } from './number-owners.ts'
import { type SourcedNumber, replaceNumbers } from './number-rows.ts'
import { providerNow } from './provider-time.ts'

export interface NumbersContext {
  directory: Directory
  extensionCalls: ExtensionCalls
  provider: Provider
  orm: Orm
  clock: Clock
  ids: Ids
}

/** The failure of an extension without a number that may send SMS. */
export const NO_NUMBER: ProviderFailure = {
  reason: 'rejected',
  status: null,
  code: NO_SMS_NUMBER,
  message: 'None of its numbers may send SMS',
  oauthError: null,
  retryAfterMs: null,
  requestId: null,
}

/** The SMS-capable numbers of the connected extensions. */
export class Numbers {
  /** Called after reading numbers that have texts in message threads. */
  threadsFound: (key: ExtensionKey) => void = () => undefined

  /** Called after reading numbers, with those that need a campaign. */
  localsFound: (key: ExtensionKey, numbers: readonly LocalNumber[]) => void = () => undefined

  constructor(readonly context: NumbersContext) {}

  /** Reads the numbers of one extension from the provider and stores them. An extension without numbers counts as refused until it has one. */
  async read(key: ExtensionKey): Promise<CallResult<SmsNumber[]>> {
    const { extensionCalls, provider, orm, clock, ids, directory } = this.context
    const result = await extensionCalls.make(key, 'light', (token) => provider.listNumbers(token))
    if (result.type !== 'ok') return result
    const { sms, local } = result.value
    const numbers = await this.#withSources(key, sms)
    const dueAt = Math.ceil(clock.steady() + CHANGE_SETTLE_MS)
    const at = { now: clock.now(), providerNow: providerNow(this.context), jobId: ids.of('job'), dueAt }
    await replaceNumbers(orm, key, numbers, at)
    if (sms.length > 0) directory.refusals.clear(key, 'numbers')
    else directory.refusals.note({ ...key, step: 'numbers', failure: NO_NUMBER }, clock.now())
    if (!numbers.some(({ source }) => source === 'threads')) directory.refusals.clear(key, 'threads')
    directory.forget(key.tenantId)
    if (numbers.some(({ source }) => source === 'threads')) this.threadsFound(key)
    this.localsFound(key, await this.#own(key, local))
    return { type: 'ok', value: sms }
  }

  /** Finds the source of the texts to each number. Asks the provider only if a number is shared, which is rare. */
  async #withSources(key: ExtensionKey, listed: readonly SmsNumber[]): Promise<SourcedNumber[]> {
    const { directory } = this.context
    const tenant = await directory.tenant(key.tenantId)
    const shared = listed.map((one) => sharedBy(one, listedBy(tenant, key.extensionId, one.number), key.extensionId))
    if (shared.every((by) => by === null)) return listed.map((one) => ({ ...one, source: 'store' }))
    const feature = await this.#feature(key)
    return listed.map((one, at) => ({ ...one, source: sourceFor(shared[at] ?? null, feature) }))
  }

  /** Excludes those of call queues. */
  async #own(key: ExtensionKey, local: readonly LocalNumber[]): Promise<LocalNumber[]> {
    const { extensionId } = key
    const tenant = await this.context.directory.tenant(key.tenantId)
    return local.filter(({ number, ownerId }) =>
      [ownerId, listedBy(tenant, extensionId, number)?.ownerId ?? null].every((owner) =>
        isDirect({ usageType: 'DirectNumber', ownerId: owner, extensionId }),
      ),
    )
  }

  /** The call counts for the limit of sends, which have priority. */
  async #feature(key: ExtensionKey): Promise<CallResult<ThreadsFeature>> {
    const { extensionCalls, provider } = this.context
    const { used, limit } = extensionCalls.quota.extensionUse(key.extensionId)
    if (used >= limit) return { type: 'deferred', cause: 'pause', retryInMs: 0, failure: null }
    return extensionCalls.make(key, 'threads', (token) => {
      extensionCalls.quota.count(key.extensionId)
      return provider.readThreadsFeature(token)
    })
  }

  /** The extension's tenant. After an upgrade from an earlier release, the usage types are unknown, so the numbers are read first. */
  async tenantOf(key: ExtensionKey): Promise<TenantEntry> {
    const { directory } = this.context
    const tenant = await directory.tenant(key.tenantId)
    if (tenant.extensions.get(key.extensionId)?.numbersReadAt !== null) return tenant
    await this.read(key)
    return directory.tenant(key.tenantId)
  }

  /** Reads the numbers of all extensions of the tenant; true if that worked for each. */
  async readAll(tenantId: string): Promise<boolean> {
    const { extensions } = await this.context.directory.tenant(tenantId)
    const live = [...extensions.values()].filter((row) => row.status !== 'revoked')
    const results = await Promise.all(live.map((row) => this.read({ tenantId, extensionId: row.extensionId })))
    return results.every((result) => result.type === 'ok' || result.type === 'gone')
  }
}
