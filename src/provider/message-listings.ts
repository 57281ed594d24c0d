import type { Clock } from '../core/clock.ts'
import { DAY_MS } from '../core/limits.ts'
import type { Orm } from '../db/orm.ts'
import type { Directory } from './directory.ts'
import type { CallResult, ExtensionCalls } from './extension-calls.ts'
import type { ExtensionKey } from './extension-rows.ts'
import { noteShown } from './number-owners.ts'
import type { MessageQuery, Provider, StoredSms } from './provider.ts'
import type { QuotaGroup } from './quota.ts'

interface ListingsContext {
  extensionCalls: ExtensionCalls
  provider: Provider
  directory: Directory
  orm: Orm
  clock: Clock
}

type ListingGroup = Extract<QuotaGroup, 'light' | 'back_fill'>

export interface MessageListing {
  records: StoredSms[]
  /** Whether messages of call queues were also requested. */
  ofEveryOwner: boolean
}

/**
 * Listings of the provider's message store. Each requests the messages of every owner, because a call queue's messages are not in the store of
 * the extension that sends them. If the provider refuses this, listings omit it for a day.
 */
export class MessageListings {
  /** Monotonic times, by extension. */
  readonly #refusedUntil = new Map<string, number>()

  constructor(readonly context: ListingsContext) {}

  /** `begin` makes the query, and is called before each attempt. */
  async list(
    key: ExtensionKey,
    begin: () => MessageQuery,
    group: ListingGroup = 'light',
  ): Promise<CallResult<MessageListing>> {
    const { clock } = this.context
    const isRefused = clock.monotonic() < (this.#refusedUntil.get(key.extensionId) ?? 0)
    const listed = await this.#list(key, begin, { group, ofEveryOwner: !isRefused })
    if (isRefused || !mayRefuseOwners(listed)) return listed
    const own = await this.#list(key, begin, { group, ofEveryOwner: false })
    if (own.type === 'ok') this.#refusedUntil.set(key.extensionId, clock.monotonic() + DAY_MS)
    return own
  }

  async #list(
    key: ExtensionKey,
    begin: () => MessageQuery,
    { group, ofEveryOwner }: { group: ListingGroup; ofEveryOwner: boolean },
  ): Promise<CallResult<MessageListing>> {
    const { extensionCalls, provider, clock } = this.context
    const listed = await extensionCalls.make(key, group, (token) =>
      provider.listMessages(token, { ...begin(), ofEveryOwner }),
    )
    if (listed.type !== 'ok') return listed
    const records = listed.value
    if (ofEveryOwner) await noteShown(this.context, key, { records, now: clock.now() })
    return { type: 'ok', value: { records, ofEveryOwner } }
  }
}

/** A parameter that is not allowed is a 400, a feature that the account lacks a 403 (RingCentral developer guide, "General API error codes"). */
const mayRefuseOwners = (listed: CallResult<MessageListing>): boolean =>
  listed.type === 'failed' && listed.failure.reason === 'rejected' && [400, 403].includes(listed.failure.status ?? 0)
