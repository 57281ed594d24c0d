import { eq, isNotNull } from 'drizzle-orm'
import { LRUCache } from 'lru-cache'
import { bounded } from '../core/bounded.ts'
import type { Orm } from '../db/orm.ts'
import { extensions, phoneNumbers, tenants } from '../db/schema/index.ts'
import { storeRefusals } from './extension-rows.ts'
import { Refusals } from './refusals.ts'
import { decodeRefusals } from './stored-refusals.ts'

export type ExtensionRow = typeof extensions.$inferSelect
export type NumberRow = typeof phoneNumbers.$inferSelect

/** A tenant's status, extensions and numbers, cached until one of them changes. */
export interface TenantEntry {
  status: 'active' | 'suspended' | 'inactive' | null
  extensions: Map<string, ExtensionRow>
  /** By E.164 number: the row of the extension that sends for it. */
  numbers: Map<string, NumberRow>
  /** All rows. A number's rows are in the order in which their extensions send for it. */
  listed: NumberRow[]
}

/** A tenant's connection to the provider, or one extension of it. */
export interface ConnectionScope {
  tenantId: string
  /** Null: all of them. */
  extensionId: string | null
}

const nameOf = ({ tenantId, extensionId }: ConnectionScope): string => `${tenantId}/${extensionId ?? ''}`

const MAX_TENANTS = 1000

/** The tenants' connected extensions and numbers, cached. A caller that changes a row must call `forget` after the commit. */
export class Directory {
  /** Active refusals by the provider. */
  readonly refusals = new Refusals()
  readonly #disconnecting = new Map<string, number>()
  readonly #cache = new LRUCache<string, TenantEntry>(bounded(MAX_TENANTS))
  readonly #reading = new Map<string, Promise<TenantEntry>>()
  #generation = 0

  constructor(readonly orm: Orm) {
    // If a reason could not be stored, the next process only has to learn it again.
    this.refusals.store = (key, lasting) => void storeRefusals(orm, key, lasting).catch(() => undefined)
  }

  /** Reads the refusals that an earlier process stored. */
  async restoreRefusals(): Promise<void> {
    const { tenantId, extensionId, refusals } = extensions
    const rows = await this.orm.select({ tenantId, extensionId, refusals }).from(extensions).where(isNotNull(refusals))
    for (const row of rows) this.refusals.restore(row, decodeRefusals(row.refusals))
  }

  async tenant(tenantId: string): Promise<TenantEntry> {
    const cached = this.#cache.get(tenantId)
    if (cached !== undefined) return cached
    const running = this.#reading.get(tenantId)
    if (running !== undefined) return running
    const reading = this.#readAndKeep(tenantId)
    this.#reading.set(tenantId, reading)
    return reading.finally(() => {
      if (this.#reading.get(tenantId) === reading) this.#reading.delete(tenantId)
    })
  }

  /** The tenant's entry if it is cached. */
  known(tenantId: string): TenantEntry | undefined {
    return this.#cache.get(tenantId)
  }

  async extension(tenantId: string, extensionId: string): Promise<ExtensionRow | null> {
    return (await this.tenant(tenantId)).extensions.get(extensionId) ?? null
  }

  /** Stops sending for a tenant or an extension that is being disconnected, until `endDisconnecting`. */
  startDisconnecting(scope: ConnectionScope): void {
    const name = nameOf(scope)
    this.#disconnecting.set(name, (this.#disconnecting.get(name) ?? 0) + 1)
  }

  endDisconnecting(scope: ConnectionScope): void {
    const name = nameOf(scope)
    const callers = (this.#disconnecting.get(name) ?? 1) - 1
    if (callers === 0) this.#disconnecting.delete(name)
    else this.#disconnecting.set(name, callers)
  }

  /** `extensionId`: the extension with the number; null if none has it. */
  isDisconnecting(tenantId: string, extensionId: string | null): boolean {
    if (this.#disconnecting.size === 0) return false
    return (
      this.#disconnecting.has(nameOf({ tenantId, extensionId: null })) ||
      this.#disconnecting.has(nameOf({ tenantId, extensionId }))
    )
  }

  forget(tenantId: string): void {
    this.#generation++
    this.#cache.delete(tenantId)
    this.#reading.delete(tenantId)
  }

  async #readAndKeep(tenantId: string): Promise<TenantEntry> {
    const generation = this.#generation
    const entry = await this.#read(tenantId)
    // If something changed during the read, the entry may be out of date: it is returned but not cached.
    if (generation === this.#generation) this.#cache.set(tenantId, entry)
    return entry
  }

  async #read(tenantId: string): Promise<TenantEntry> {
    const [tenant] = await this.orm.select({ status: tenants.status }).from(tenants).where(eq(tenants.id, tenantId))
    const rows = await this.orm.select().from(extensions).where(eq(extensions.tenantId, tenantId))
    const numbers = await this.orm.select().from(phoneNumbers).where(eq(phoneNumbers.tenantId, tenantId))
    const byId = new Map(rows.map((row) => [row.extensionId, row]))
    const listed = sendersFirst(numbers, ({ extensionId }) => byId.get(extensionId)?.status === 'revoked')
    return {
      status: tenant?.status ?? null,
      extensions: byId,
      numbers: new Map(listed.toReversed().map((row) => [row.number, row])),
      listed,
    }
  }
}

/**
 * Sorts rows by whether their extension sends for the number, if several list it. The order is fixed, so that a number keeps its sender
 * through new authorizations and failing refreshes.
 */
export const sendersFirst = (rows: readonly NumberRow[], isRevoked: (row: NumberRow) => boolean): NumberRow[] =>
  rows.toSorted(
    (one, other) => Number(isRevoked(one)) - Number(isRevoked(other)) || (one.extensionId < other.extensionId ? -1 : 1),
  )

/** The stored row of a number in one extension's list. */
export const listedBy = ({ listed }: TenantEntry, extensionId: string, number: string): NumberRow | undefined =>
  listed.find((row) => row.extensionId === extensionId && row.number === number)

/** After an upgrade the numbers are stored, and are only read again for their usage types. The caller has read the tenant. */
export const hasNumbers = (
  directory: Directory,
  { tenantId, extensionId }: Pick<ExtensionRow, 'tenantId' | 'extensionId'>,
): boolean => directory.known(tenantId)?.listed.some((row) => row.extensionId === extensionId) ?? false
