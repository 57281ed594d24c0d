import { isoTime } from '../../core/clock.ts'
import type { Mute } from '../../core/firing-alert.ts'
import { errorName } from '../../core/log.ts'
import type { Gateway } from '../../messages/gateway.ts'
import { type Condition, GATEWAY, subjectOf, textOf } from '../conditions/condition.ts'
import { type Judgement, judge } from '../conditions/judge.ts'
import { liveMutes, muteOf } from './mutes.ts'
import { type AlertPoster, createAlertPoster, retryMs } from './post-alert.ts'
import { ALERT_NAMES, type AlertState, type Firing, type Post, loadState, storeState } from './state.ts'

/** A post may take 5 seconds, and a more urgent alert may arrive in that time. */
const MAX_POSTS_PER_RUN = 5

/**
 * Finds what needs attention, keeps it for `GET /v1/operator/alerts`, and posts it to `ALERT_URL`, if set, when it begins and when it is over,
 * unless it is muted. The state is stored, so a restart repeats no post. While storing fails, which is itself an alert, the state is only in
 * memory.
 */
export class Alerts {
  #loading: Promise<AlertState> | null = null
  #checking: Promise<AlertState> | null = null
  #stored = ''
  /** The post in progress. */
  #posting: Post | null = null
  /** Condition that is not an alert yet → monotonic time at which it began. */
  readonly #held = new Map<string, number>()
  /** Null without `ALERT_URL`. */
  readonly #poster: AlertPoster | null

  constructor(
    readonly gateway: Gateway,
    url: string | null,
  ) {
    gateway.alerts.knownSince = gateway.clock.monotonic()
    this.#poster = url === null ? null : createAlertPoster(gateway, url)
  }

  /** Runs all checks, then makes the posts that are due, which may take long. Call it every few seconds. Runs must not overlap. */
  async run(): Promise<void> {
    const state = await this.check()
    await this.#store(state)
    await this.#post(state)
  }

  /** Runs all checks, and publishes what they found. A call while they run shares that run. */
  check(): Promise<AlertState> {
    return (this.#checking ??= this.#checkAll().finally(() => (this.#checking = null)))
  }

  async #checkAll(): Promise<AlertState> {
    const state = await (this.#loading ??= this.#load())
    // Some conditions of an earlier process continue until they are known again.
    this.#show(state)
    for (const judgement of await judge(this.gateway)) this.#compare(state, judgement)
    state.mutes = liveMutes(state.mutes, state.firing, this.gateway.clock.now())
    if (this.#poster !== null) for (const firing of state.firing) this.#tell(state, firing)
    this.#show(state)
    return state
  }

  /** Changes the mutes, and stores them before it resolves. Rejects while the storage fails. */
  async setMutes(change: (mutes: readonly Mute[]) => Mute[]): Promise<void> {
    const state = await (this.#loading ??= this.#load())
    const [before, after] = [state.mutes, change(state.mutes)]
    state.mutes = after
    try {
      await storeState(this.gateway.database, state)
    } catch (error) {
      if (state.mutes === after) state.mutes = before
      throw error
    }
    this.#show(state)
  }

  async #load(): Promise<AlertState> {
    try {
      const state = await loadState(this.gateway.database)
      if (this.#poster === null) dropPosts(state)
      // Without this limit, setting the clock back by a day would delay a post by a day.
      const now = this.gateway.clock.steady()
      for (const post of state.posts) post.dueAt = Math.min(post.dueAt, now + (retryMs(post.attempts) ?? 0))
      return state
    } catch (error) {
      this.#loading = null
      throw error
    }
  }

  /** Compares the found conditions with the firing alerts. If one thing has several conditions, reports the first that has lasted long enough. */
  #compare(state: AlertState, { source: { alert }, found, error }: Judgement): void {
    if (found === null)
      return this.gateway.log.warn({ alert, error: errorName(error) }, 'cannot check for alerts, trying again')
    const foundKeys = new Set(found.map((condition) => keyOf(alert, condition)))
    const isOver = (key: string): boolean => key.startsWith(`${alert}/`) && !foundKeys.has(key)
    for (const key of this.#held.keys()) if (isOver(key)) this.#held.delete(key)
    const firing = new Map(state.firing.map((one) => [keyOf(one.alert, one), one]))
    for (const [key, one] of firing) if (isOver(key)) this.#resolve(state, one)
    const told = new Set<string>()
    for (const condition of found) {
      const key = keyOf(alert, condition)
      const known = firing.get(key)
      if (told.has(key) || (known === undefined && !this.#hasLasted(key, condition))) continue
      told.add(key)
      if (known === undefined) this.#fire(state, alert, condition)
      else renew(known, condition)
    }
  }

  #hasLasted(key: string, { since, holdMs = 0 }: Condition): boolean {
    const { clock } = this.gateway
    if (since !== undefined) return clock.now() - since >= holdMs
    const heldSince = this.#held.get(key) ?? clock.monotonic()
    this.#held.set(key, heldSince)
    return clock.monotonic() - heldSince >= holdMs
  }

  #fire(state: AlertState, alert: string, condition: Condition): void {
    const { subject = GATEWAY, what, fix, overText, detail, since = this.gateway.clock.now() } = condition
    this.#held.delete(keyOf(alert, condition))
    state.firing.push({ alert, subject, what, fix, overText, detail, since, isPosted: false })
    this.gateway.log.warn({ alert, ...detail }, 'alert')
  }

  /** Plans the post of an alert that has not been posted, and withdraws that of a muted alert, unless the post is in progress. */
  #tell(state: AlertState, firing: Firing): void {
    const isMuted = muteOf(state.mutes, firing.alert, firing) !== undefined
    if (!firing.isPosted && !isMuted) {
      firing.isPosted = true
      this.#add(state, firing, 'firing', textOf(firing))
    } else if (firing.isPosted && isMuted) {
      // While an alert fires, its last post is the firing one.
      const post = state.posts.findLast(({ thing }) => thing === keyOf(firing.alert, firing))
      if (post === undefined || post === this.#posting) return
      remove(state.posts, post)
      firing.isPosted = false
    }
  }

  #resolve(state: AlertState, firing: Firing): void {
    remove(state.firing, firing)
    this.gateway.log.info({ alert: firing.alert, ...firing.detail }, 'alert is over')
    if (firing.isPosted) this.#add(state, firing, 'resolved', firing.overText)
  }

  #add(state: AlertState, firing: Firing, change: 'firing' | 'resolved', text: string): void {
    if (this.#poster === null) return
    const { alert, what, fix, detail, since } = firing
    const body = JSON.stringify({
      text,
      alert,
      state: change,
      since: isoTime(since),
      subject: subjectOf(firing),
      what,
      fix,
      detail,
    })
    state.posts.push({ thing: keyOf(alert, firing), body, attempts: 0, dueAt: 0 })
  }

  /** Makes the posts that are due, the first one of each alert and subject, but only a few in one run, because the checks must run again. */
  async #post(state: AlertState): Promise<void> {
    const poster = this.#poster
    if (poster === null) return
    const { clock, lifecycle } = this.gateway
    const isFirst = (post: Post): boolean => state.posts.find(({ thing }) => thing === post.thing) === post
    const due = state.posts.filter((post) => isFirst(post) && post.dueAt <= clock.steady())
    const urgent = due.toSorted((one, other) => rankOf(one) - rankOf(other)).slice(0, MAX_POSTS_PER_RUN)
    for (const post of urgent)
      // A mute may have withdrawn it in the meantime.
      if (!lifecycle.draining && state.posts.includes(post)) await this.#attempt(state, post, poster)
  }

  /** Makes one attempt of a post. The attempt is stored first, so after a crash the next one comes on schedule, as after a failure. */
  async #attempt(state: AlertState, post: Post, poster: AlertPoster): Promise<void> {
    const { clock, log } = this.gateway
    this.#posting = post
    const delayMs = retryMs(++post.attempts)
    post.dueAt = clock.steady() + (delayMs ?? 0)
    await this.#store(state)
    const { outcome, statusCode } = await poster.post(post.body).finally(() => (this.#posting = null))
    post.dueAt = clock.steady() + (delayMs ?? 0)
    const isOver = outcome === 'success' || delayMs === null
    if (outcome !== 'success')
      log.warn(
        { thing: post.thing, attempts: post.attempts, outcome, statusCode },
        `an alert could not be posted, ${isOver ? 'giving up' : 'trying again'}`,
      )
    if (isOver) remove(state.posts, post)
    await this.#store(state)
  }

  /** Copies what is firing and what is muted to where the endpoints read it. */
  #show({ firing, mutes }: AlertState): void {
    this.gateway.alerts.firing = [...firing]
    this.gateway.alerts.mutes = mutes
  }

  async #store(state: AlertState): Promise<void> {
    const text = JSON.stringify(state)
    if (text === this.#stored) return
    try {
      await storeState(this.gateway.database, state)
      this.#stored = text
    } catch (error) {
      this.gateway.log.warn({ error: errorName(error) }, 'the state of the alerts cannot be stored, trying again')
    }
  }
}

const remove = <T>(all: T[], one: T): void => void all.splice(all.indexOf(one), 1)

/** A firing alert that waits for its post counts as not posted: a later start with `ALERT_URL` posts it. */
function dropPosts({ firing, posts }: AlertState): void {
  for (const one of firing) if (posts.some(({ thing }) => thing === keyOf(one.alert, one))) one.isPosted = false
  posts.length = 0
}

/**
 * The oldest queued message may belong to another tenant by now, and an extension may fail for another reason. Otherwise an alert keeps its
 * first words.
 */
function renew(firing: Firing, { what, fix, detail, since = firing.since }: Condition): void {
  if (firing.detail['tenantId'] !== detail['tenantId']) Object.assign(firing, { what, fix, detail, since })
  else if (firing.detail['reason'] !== detail['reason'] || firing.fix === '')
    Object.assign(firing, { what, fix, detail })
}

/** The more urgent, the lower. */
const rankOf = ({ thing }: Post): number => ALERT_NAMES.findIndex((name) => thing.startsWith(`${name}/`))

const keyOf = (alert: string, { subject = GATEWAY }: Pick<Condition, 'subject'>): string => `${alert}/${subject}`
