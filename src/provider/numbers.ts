import type { Clock } from '../core/clock.ts'
import type { Orm } from '../db/orm.ts'
import type { Directory, TenantEntry } from './directory.ts'
import { type ExtensionKey, replaceNumbers } from './extension-rows.ts'
import { NO_SMS_NUMBER, type Provider, type ProviderFailure, type SmsNumber } from './provider.ts'
import type { CallResult, ExtensionCalls } from './extension-calls.ts'

export interface NumbersContext {
  directory: Directory
  extensionCalls: ExtensionCalls
  provider: Provider
  orm: Orm
  clock: Clock
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
  constructor(readonly context: NumbersContext) {}

  /** Reads the numbers of one extension from the provider and stores them. Having none stands like a refusal, until it has one. */
  async read(key: ExtensionKey): Promise<CallResult<SmsNumber[]>> {
    const { extensionCalls, provider, orm, clock, directory } = this.context
    const result = await extensionCalls.make(key, 'light', (token) => provider.listSmsNumbers(token))
    if (result.type !== 'ok') return result
    await replaceNumbers(orm, key, result.value, clock.now())
    if (result.value.length > 0) directory.refusals.clear(key, 'numbers')
    else directory.refusals.note({ ...key, step: 'numbers', failure: NO_NUMBER }, clock.now())
    directory.forget(key.tenantId)
    return result
  }

  /** The extension's tenant. An upgrade from an earlier release does not know how the numbers are used: then they are read first. */
  async tenantOf(key: ExtensionKey): Promise<TenantEntry> {
    const { directory } = this.context
    const tenant = await directory.tenant(key.tenantId)
    if (tenant.extensions.get(key.extensionId)?.numbersReadAt !== null) return tenant
    await this.read(key)
    return directory.tenant(key.tenantId)
  }

  /** Reads the numbers of all extensions of the tenant; true when that worked for each. */
  async readAll(tenantId: string): Promise<boolean> {
    const { extensions } = await this.context.directory.tenant(tenantId)
    const live = [...extensions.values()].filter((row) => row.status !== 'revoked')
    const results = await Promise.all(live.map((row) => this.read({ tenantId, extensionId: row.extensionId })))
    return results.every((result) => result.type === 'ok' || result.type === 'gone')
  }
}
