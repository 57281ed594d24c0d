import { asc, eq } from 'drizzle-orm'
import { setImmediate as nextTick } from 'node:timers/promises'
import { DAY_MS, HOUR_MS } from '../../core/limits.ts'
import { facts } from '../../db/schema/tenants.ts'
import { extensions } from '../../db/schema/connections.ts'
import type { Consent, ConsentPage } from '../../provider/consents.ts'
import type { ExtensionKey } from '../../provider/extension-rows.ts'
import type { ProviderFailure } from '../../provider/provider.ts'
import { decidedAtOf } from '../../provider/provider-time.ts'
import type { Gateway } from '../gateway.ts'
import type { Timers } from '../jobs/timers.ts'
import { consentStatements, factOf, NOTE_FACT } from '../opt-outs/consent-rows.ts'
import { followConversations } from './follow-conversations.ts'

/** Leaves the extension's 50 light calls a minute to lookups and polls. */
const PAGE_EVERY_MS = 2000
const RETRY_MS = 10 * 60_000
/** Events come in bursts. */
const MIN_DISTANCE_MS = 5000
/** After events, a list is read again no sooner than this many times its reading time. */
const REST = 3
/** How many users of an account are tried before it counts as refused. */
const MAX_ASKED = 3
/** A commit of this many takes a millisecond of the event loop. */
const ROWS_PER_COMMIT = 20

/** A list of an account's consents that is being read, page by page. */
interface Reading {
  key: ExtensionKey
  /** How many of the account's users are connected. */
  users: number
  isFirst: boolean
  isOut: boolean
  pageToken: string | null
  beganAt: number
  read: number
  leftOut: number
}

type Erased = ReadonlySet<string>

interface State {
  reading: Reading | null
  /** Monotonic; 0 is immediately. */
  dueAt: number
  /** Whether an event arrived while a list was being read. */
  isChanged: boolean
  /** Which extension of the account is tried next, and how many in a row were refused. */
  turn: number
  refused: number
  lastedMs: number
}

/**
 * Reads the consents of each connected account: within the hour, and soon after an event has reported a change. The provider's list has no
 * filter by time, so all of it is read: first opt-outs, then opt-ins.
 */
export class ConsentReadings {
  readonly #states = new Map<string, State>()

  constructor(
    readonly gateway: Gateway,
    readonly timers: Pick<Timers, 'once'>,
  ) {}

  /** Starts the readings that are due. */
  async look(): Promise<void> {
    const accounts = await this.#accounts()
    for (const accountId of this.#states.keys()) if (!accounts.has(accountId)) this.#states.delete(accountId)
    this.gateway.consents.keepOnly(accounts)
    const now = this.gateway.clock.monotonic()
    for (const accountId of accounts.keys()) {
      const { reading, dueAt } = this.#stateOf(accountId)
      if (reading === null && dueAt <= now) await this.#begin(accountId)
    }
  }

  /** Call it when an event has reported a changed consent of the extension's account. */
  async changed({ tenantId, extensionId }: ExtensionKey): Promise<void> {
    const row = await this.gateway.directory.extension(tenantId, extensionId)
    if (row === null) return
    const state = this.#stateOf(row.accountId)
    if (state.reading === null) this.#planBegin(row.accountId, state)
    else state.isChanged = true
  }

  #planBegin(accountId: string, state: State): void {
    const ms = Math.max(MIN_DISTANCE_MS, REST * state.lastedMs)
    state.dueAt = Math.min(state.dueAt, this.gateway.clock.monotonic() + ms)
    this.timers.once(nameOf(accountId), ms, () => this.#begin(accountId))
  }

  /** The active extensions by account. */
  async #accounts(): Promise<Map<string, ExtensionKey[]>> {
    const { accountId, tenantId, extensionId, status } = extensions
    const rows = await this.gateway.database.orm
      .select({ accountId, tenantId, extensionId })
      .from(extensions)
      .where(eq(status, 'active'))
      .orderBy(asc(tenantId), asc(extensionId))
    return Map.groupBy(rows, (row) => row.accountId)
  }

  async #begin(accountId: string): Promise<void> {
    const { clock, database, lifecycle } = this.gateway
    const state = this.#stateOf(accountId)
    const keys = (await this.#accounts()).get(accountId) ?? []
    const key = keys[state.turn % Math.max(1, keys.length)]
    if (key === undefined || state.reading !== null || lifecycle.draining) return
    const [fact] = await database.orm
      .select({ value: facts.value })
      .from(facts)
      .where(eq(facts.name, factOf(accountId)))
    if (fact === undefined) await this.#noteFact(accountId, 'begun')
    const isFirst = fact?.value !== 'known'
    const of = { key: { tenantId: key.tenantId, extensionId: key.extensionId }, users: keys.length, isFirst }
    state.reading = { ...of, isOut: true, pageToken: null, beganAt: clock.monotonic(), read: 0, leftOut: 0 }
    state.isChanged = false
    // In case it ends with an error.
    state.dueAt = clock.monotonic() + RETRY_MS
    await this.#step(accountId, state)
  }

  #noteFact(accountId: string, value: 'begun' | 'known'): Promise<unknown> {
    return this.gateway.database.writer.write([{ sql: NOTE_FACT, args: [factOf(accountId), value] }])
  }

  async #step(accountId: string, state: State): Promise<void> {
    const { reading } = state
    if (reading === null || this.gateway.lifecycle.draining) return
    let waitMs: number | null = null
    const page = this.gateway.consents.openPage()
    try {
      waitMs = await this.#readPage(accountId, state, reading, page.erased)
    } finally {
      page.close()
      if (waitMs === null) this.#end(accountId, state)
      else this.timers.once(nameOf(accountId), waitMs, () => this.#step(accountId, state))
    }
  }

  /** Returns when the next page is due, or null if the reading is over. */
  async #readPage(accountId: string, state: State, reading: Reading, erased: Erased): Promise<number | null> {
    const { extensionCalls, provider } = this.gateway
    const page = await extensionCalls.make(reading.key, 'consents', (token) => provider.listConsents(token, reading))
    if (page.type === 'deferred' && page.cause !== 'tokens') return Math.max(PAGE_EVERY_MS, page.retryInMs)
    if (page.type !== 'ok') return this.#refused(accountId, state, reading, page.failure ?? null)
    await this.#store(accountId, reading, page.value, erased)
    const { nextPageToken } = page.value
    reading.pageToken = nextPageToken
    if (reading.pageToken === null && !reading.isOut) return this.#finished(accountId, state, reading)
    if (reading.pageToken === null) reading.isOut = false
    return PAGE_EVERY_MS
  }

  /** Another user of the account may have the right that this one lacks, and is tried next. */
  #refused(accountId: string, state: State, reading: Reading, failure: ProviderFailure | null): number | null {
    this.gateway.consents.noteFailure(accountId, failure, this.gateway.clock.now())
    // The next attempt waits for the requested pause.
    if (failure?.reason === 'rate_limited') return PAGE_EVERY_MS
    state.turn++
    const { status, code } = failure ?? {}
    this.gateway.log.info({ accountId, status, code }, 'the consents of an account could not be read completely')
    if (failure?.reason !== 'rejected' || !reading.isOut || reading.pageToken !== null) state.refused = 0
    else if (++state.refused >= Math.min(MAX_ASKED, reading.users)) this.#noteRefusal(accountId, state, failure)
    else state.dueAt = 0
    return null
  }

  #noteRefusal(accountId: string, state: State, failure: ProviderFailure): void {
    const { consents, clock, log } = this.gateway
    state.refused = 0
    state.dueAt = clock.monotonic() + DAY_MS
    consents.note(accountId, { reader: null, failure, read: 0, leftOut: 0 })
    const { status, code } = failure
    log.info({ accountId, status, code }, 'the consents of an account cannot be read, trying again in a day')
  }

  async #finished(accountId: string, state: State, { key, isFirst, read, leftOut, beganAt }: Reading): Promise<null> {
    const { clock, consents, log } = this.gateway
    if (isFirst) await this.#noteFact(accountId, 'known')
    if (isFirst || leftOut > 0) log.info({ accountId, consents: read, leftOut }, 'the consents of an account were read')
    state.refused = 0
    state.lastedMs = clock.monotonic() - beganAt
    state.dueAt = clock.monotonic() + HOUR_MS
    consents.note(accountId, { reader: key, failure: null, read, leftOut })
    return null
  }

  #end(accountId: string, state: State): void {
    state.reading = null
    if (state.isChanged) this.#planBegin(accountId, state)
    else if (state.dueAt === 0) this.timers.once(nameOf(accountId), PAGE_EVERY_MS, () => this.#begin(accountId))
  }

  async #store(accountId: string, reading: Reading, { consents, leftOut }: ConsentPage, erased: Erased): Promise<void> {
    const { database, clock } = this.gateway
    if (consents.length > 0) await followConversations(this.gateway)
    reading.read += consents.length
    reading.leftOut += leftOut
    for (let from = 0; from < consents.length; from += ROWS_PER_COMMIT) {
      const some = consents.slice(from, from + ROWS_PER_COMMIT)
      const known = some.filter(({ contact, number }) => !erased.has(contact) && !erased.has(number ?? ''))
      const rows = known.map((one) => this.#dated(one))
      await database.writer.write(consentStatements(rows, accountId, clock.now()))
      // Sends and requests run between commits.
      await nextTick()
    }
  }

  #dated(consent: Consent): Consent {
    return { ...consent, modifiedAt: decidedAtOf(this.gateway, consent.modifiedAt) }
  }

  #stateOf(accountId: string): State {
    const known = this.#states.get(accountId)
    if (known !== undefined) return known
    const state: State = { reading: null, dueAt: 0, isChanged: false, turn: 0, refused: 0, lastedMs: 0 }
    this.#states.set(accountId, state)
    return state
  }
}

const nameOf = (accountId: string): string => `consents of ${accountId}`
