import { DAY_MS } from '../../core/limits.ts'
import { isApproved, isLost } from '../../provider/campaign-words.ts'
import type { CallResult } from '../../provider/extension-calls.ts'
import { type ExtensionKey, nameOf } from '../../provider/extension-rows.ts'
import { type KnownCampaign, knownCampaigns, storeCampaigns } from '../../provider/known-campaigns.ts'
import type { Campaign, LocalNumber } from '../../provider/listed-numbers.ts'
import type { Gateway } from '../gateway.ts'
import type { Timers } from '../jobs/timers.ts'

/** Numbers are read again after a day, or slightly less. */
const DAILY_MS = DAY_MS - 60 * 60_000
const AT_ONCE = 20
const NEXT_MS = 60_000
const RETRY_MS = 10 * 60_000
const BUSY_MS = 1000

/** The numbers that a list has shown, and those that were read since. */
interface Round {
  numbers: readonly LocalNumber[]
  read: Set<string>
}

/** Reads the campaigns of numbers after a list has shown them. Nothing waits for this. */
export class CampaignReader {
  /** By extension. */
  readonly #rounds = new Map<string, Round>()
  readonly #running = new Set<string>()

  constructor(
    readonly gateway: Gateway,
    readonly timers: Pick<Timers, 'once'>,
  ) {}

  listed({ tenantId, extensionId }: ExtensionKey, numbers: readonly LocalNumber[]): void {
    const key = { tenantId, extensionId }
    this.#rounds.set(nameOf(key), { numbers, read: new Set() })
    this.#plan(key, 0)
  }

  #plan(key: ExtensionKey, ms: number): void {
    this.timers.once(`campaigns of ${nameOf(key)}`, ms, () => this.#run(key))
  }

  async #run(key: ExtensionKey): Promise<void> {
    const name = nameOf(key)
    const round = this.#rounds.get(name)
    if (round === undefined) return
    if (this.#running.has(name)) return this.#plan(key, BUSY_MS)
    this.#running.add(name)
    try {
      const nextMs = await this.#read(key, round)
      if (this.#rounds.get(name) !== round) return
      if (nextMs === null) this.#rounds.delete(name)
      else this.#plan(key, nextMs)
    } finally {
      this.#running.delete(name)
    }
  }

  /** Returns when to continue; null when everything was read. */
  async #read(key: ExtensionKey, { numbers, read }: Round): Promise<number | null> {
    const { directory, database, clock, lifecycle, extensionCalls, provider } = this.gateway
    const row = await directory.extension(key.tenantId, key.extensionId)
    if (row?.status !== 'active') return null
    const known = new Map(knownCampaigns(row).map((one) => [one.number, one]))
    const due = numbers.filter((one) => !read.has(one.number) && isDue(one, known.get(one.number), clock.now()))
    const answers = new Map<string, Read>()
    let isAnswered = true
    for (const { number, providerNumberId } of due.slice(0, AT_ONCE)) {
      if (lifecycle.draining) return null
      const result = await extensionCalls.make(key, 'back_fill', (token) =>
        provider.readCampaign(token, providerNumberId),
      )
      const answer = readIn(result)
      isAnswered &&= answer !== null
      if (answer === null && !isAboutOne(result)) break
      if (answer === null) continue
      answers.set(number, answer)
      read.add(number)
    }
    const now = clock.now()
    const next = numbers.map((one) => knownOf(one, known.get(one.number), answers.get(one.number), now))
    if (JSON.stringify(next) !== JSON.stringify([...known.values()])) {
      await storeCampaigns(database.orm, key, next)
      directory.forget(key.tenantId)
    }
    if (!isAnswered) return RETRY_MS
    return due.length > AT_ONCE ? NEXT_MS : null
  }
}

type Read = Pick<KnownCampaign, 'campaign' | 'refused'>

/** What the provider says about a number's campaign, or that it refuses to; null if it has not answered. */
function readIn(result: CallResult<Campaign | null>): Read | null {
  if (result.type === 'ok') return { campaign: result.value, refused: null }
  const isRefused = result.type === 'failed' && result.failure.reason === 'rejected'
  return isRefused ? { campaign: null, refused: result.failure.status } : null
}

/** Whether a failed call says nothing about the next one. */
const isAboutOne = (result: CallResult<Campaign | null>): boolean =>
  result.type === 'failed' && result.failure.reason !== 'rate_limited'

/** Approved or refused campaigns are read once a day; all others with each list of the numbers. */
function isDue({ sends }: LocalNumber, known: KnownCampaign | undefined, now: number): boolean {
  if (known === undefined || known.readAt === null) return true
  if (Math.abs(now - known.readAt) >= DAILY_MS) return true
  const isWell = sends && (known.campaign === null || isApproved(known.campaign))
  return known.refused === null && !isWell
}

function knownOf(
  { number, sends }: LocalNumber,
  before: KnownCampaign | undefined,
  read: Read | undefined,
  now: number,
): KnownCampaign {
  const { refused } = read ?? before ?? { refused: null }
  // A refusal does not change what was known.
  const { campaign } = (read?.refused === null ? read : before) ?? { campaign: null }
  const hasSent = sends || before?.hasSent === true
  const fails = isLost(campaign) || (hasSent && !sends)
  return {
    number,
    campaign,
    refused,
    readAt: read === undefined ? (before?.readAt ?? null) : now,
    hasSent,
    failsSince: fails ? (before?.failsSince ?? now) : null,
  }
}
