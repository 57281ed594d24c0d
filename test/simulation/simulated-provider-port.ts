import { uploadMs } from '../../src/core/upload-time.ts'
import type { OutboundSms, SmsAnswer } from '../../src/provider/outbound-sms.ts'
import type { Provider, ProviderResult } from '../../src/provider/provider.ts'
import type { QuotaGroup } from '../../src/provider/quota.ts'
import { type AttemptRef, type ModelProvider, refused } from './model-provider.ts'
import type { Random } from './random.ts'
import type { Owner, Timeline } from './timeline.ts'

/** The course of a send. `late_…`: the provider accepts long after the gateway has got a failure. */
export type SmsFate =
  | 'ok'
  | 'slow'
  | 'marked_failed'
  | 'lost'
  | 'reset'
  | 'bad_gateway'
  | 'unreadable'
  | 'late_timeout'
  | 'late_reset'
  | 'late_bad_gateway'
  | 'dropped_timeout'
  | 'dropped_reset'
  | 'dropped_bad_gateway'
  | 'unreachable'
  | 'unavailable'
  | 'turned_away'
  | 'limited'
  | 'rejected'

export type Fates = Partial<Record<SmsFate, number>>

/** One boot of the gateway, as the provider knows it. */
export interface ProviderClient extends Owner {
  /** The end of each known penalty, by group and extension. */
  penalties: Map<string, number>
  /** Requests that the provider has not handled yet. */
  underWay: Set<Request>
}

interface Request {
  handle(): void
  cancel(): void
  handleAt: number
  /** How long after the death of its process it may still be handled. */
  lateMs: number
  /** A token request that outlives its process is handled at once, because its effect on the next boot would be random. */
  isRefresh: boolean
}

export interface ProviderLink {
  timeline: Timeline
  random: Random
  provider: ModelProvider
  /** Returns the attempt of a send. A missing attempt is a violation. */
  attemptOf(message: OutboundSms): Promise<AttemptRef>
  fates(): Fates
  /** The delay between a failure at the gateway and a late acceptance. It is just below the settle times. */
  lateMs: { settle: number; settle5xx: number }
  timeoutMs: number
  /** The lag of the provider's clock. The real port learns it from `Date` and compensates for it. */
  lagMs(): number
  /** The error of the steady clock by the provider's `Date`, or null before the first answer. */
  skewMs(): number | null
  log(text: string): void
  violated(text: string): void
}

/** The course of one request, in milliseconds after its start. Without an answer, the gateway's timeout ends it. */
interface Course<T> {
  handleAfterMs: number | null
  handle(): ProviderResult<T>
  answerAfterMs: number | null
  /** Replaces the answer of `handle`. */
  answer?: ProviderResult<T>
}

/** The provider's port for one boot. */
export function providerPort(link: ProviderLink, client: ProviderClient): Provider {
  const { provider, random } = link
  const refuse = (): never => {
    throw new Error('This call is not part of the simulation')
  }
  const read = <T>(
    group: 'light' | 'threads',
    accessToken: string,
    down: boolean,
    serve: (extensionId: string) => T,
  ): Promise<ProviderResult<T>> => {
    const extensionId = provider.extensionOf(accessToken)
    checkSilence(link, client, group, extensionId)
    // A pause of sends is one of threads, too.
    if (group === 'threads') checkSilence(link, client, 'medium', extensionId)
    return ask(
      link,
      client,
      `${group}:${extensionId}`,
      readCourse(link, accessToken, group, down, () => serve(extensionId)),
    )
  }
  const light = <T>(
    accessToken: string,
    down: boolean,
    serve: (extensionId: string) => T,
  ): Promise<ProviderResult<T>> => read('light', accessToken, down, serve)
  return {
    clockSkewMs: () => link.skewMs(),
    hasAnswered: () => link.skewMs() !== null,
    ratePerMinute: () => null,
    authorizeUrl: refuse,
    exchangeCode: refuse,
    exchangeJwt: refuse,
    getExtension: refuse,
    readAttachment: refuse,
    createSubscription: refuse,
    getSubscription: refuse,
    renewSubscription: refuse,
    deleteSubscription: refuse,
    openEventSocket: refuse,
    parseInboundEvent: refuse,
    probeAuthorize: refuse,
    fixOf: () => 'Wait.',
    isStanding: () => false,
    refresh: (refreshToken) =>
      ask(link, client, null, {
        handleAfterMs: random.ms(5, 200),
        handle: () => {
          const result = provider.refresh(refreshToken)
          link.log(`refresh with ${refreshToken}: ${result.ok ? result.value.refreshToken : result.failure.reason}`)
          return result
        },
        answerAfterMs: random.chance(0.9) ? random.ms(200, 400) : null,
      }),
    revoke: (refreshToken) =>
      ask(link, client, null, {
        handleAfterMs: 1,
        handle: () => ({ ok: true, value: provider.revoke(refreshToken) }),
        answerAfterMs: 2,
      }),
    listSubscriptions: (accessToken) => light(accessToken, false, () => []),
    listNumbers: (accessToken) =>
      light(accessToken, false, (extensionId) => ({
        sms: (provider.numbers.get(extensionId) ?? []).map((number) => ({
          number,
          usageType: 'DirectNumber',
          sendsMedia: true,
          ownerId: provider.queueOf(number),
          ownerType: provider.queueOf(number) === null ? null : 'Department',
        })),
        local: [],
      })),
    readCampaign: refuse,
    // It has none, as most accounts.
    listConsents: () => Promise.resolve(refused('rejected', 404)),
    listThreadMessages: refuse,
    startThreadSync: refuse,
    syncThreads: refuse,
    readThreadsFeature: (accessToken) =>
      read('threads', accessToken, false, () => ({ ofQueues: false, ofSites: false })),
    listMessages: (accessToken, query) =>
      light(accessToken, link.timeline.now < provider.storeDownUntil, (extensionId) =>
        provider.list(extensionId, { ...query, since: query.since - link.lagMs() }),
      ),
    async sendSms(accessToken, message) {
      const extensionId = provider.extensionOf(accessToken)
      checkSilence(link, client, 'medium', extensionId)
      const attempt = await link.attemptOf(message)
      for (const file of message.media ?? []) await file.read()
      const times = patientLink(link, message)
      const fate = random.weighted(link.fates())
      link.log(`call ${fate} for ${attempt.messageId} ${attempt.attemptId}`)
      return ask(
        times,
        client,
        `medium:${extensionId}`,
        smsCourse(times, accessToken, extensionId, message, attempt, fate),
      )
    },
  }
}

/** A call with media may take longer, and so may what the provider still does with it after a failure. */
function patientLink(link: ProviderLink, { media = [] }: OutboundSms): ProviderLink {
  const { timeoutMs, lateMs } = link
  const longerMs = uploadMs(
    timeoutMs,
    media.reduce((bytes, { size }) => bytes + size, 0),
  )
  return {
    ...link,
    timeoutMs: timeoutMs + longerMs,
    lateMs: { settle: lateMs.settle + longerMs, settle5xx: lateMs.settle5xx + longerMs },
  }
}

function checkSilence(link: ProviderLink, client: ProviderClient, group: QuotaGroup, extensionId: string): void {
  const until = client.penalties.get(`${group}:${extensionId}`) ?? 0
  if (link.timeline.now < until)
    link.violated(
      `a ${group} request of ${extensionId} went out ${until - link.timeline.now} ms before the end of its 429 penalty`,
    )
}

/** The provider handles the request even if the process dies. The answer arrives only if the process is alive. */
function ask<T>(
  link: ProviderLink,
  client: ProviderClient,
  penalty: string | null,
  course: Course<T>,
): Promise<ProviderResult<T>> {
  const { timeline } = link
  return new Promise((resolve) => {
    let answer = course.answer ?? null
    const handle = (): void => {
      const handled = course.handle()
      answer ??= handled
    }
    if (course.handleAfterMs !== null) underWay(link, client, course.handleAfterMs, penalty === null, handle)
    let isAnswered = false
    const respond = (result: ProviderResult<T>): void => {
      if (isAnswered) return
      isAnswered = true
      if (penalty !== null && !result.ok && result.failure.reason === 'rate_limited')
        notePenalty(link, client, penalty, result.failure.retryAfterMs)
      resolve(result)
    }
    const { answerAfterMs } = course
    if (answerAfterMs !== null)
      timeline.after(client, answerAfterMs, () => respond(answer ?? refused('ambiguous', null)))
    timeline.after(client, link.timeoutMs, () => respond(refused('ambiguous', null)))
  })
}

function underWay(
  link: ProviderLink,
  client: ProviderClient,
  delayMs: number,
  isRefresh: boolean,
  handle: () => void,
): void {
  const { timeline } = link
  const request: Request = {
    isRefresh,
    handleAt: timeline.now + delayMs,
    lateMs: link.lateMs.settle,
    handle: () => {
      client.underWay.delete(request)
      handle()
    },
    cancel: timeline.after(null, delayMs, () => request.handle()),
  }
  client.underWay.add(request)
}

/** Decides the open requests of a dead process: each is handled before the settle time of its successor, or never. */
export function orphan(link: ProviderLink, client: ProviderClient): void {
  for (const request of client.underWay) {
    request.cancel()
    if (!request.isRefresh)
      link.timeline.after(
        null,
        Math.min(request.handleAt - link.timeline.now, link.random.ms(0, request.lateMs)),
        request.handle,
      )
    else if (link.random.chance(0.5)) request.handle()
  }
}

function notePenalty(link: ProviderLink, client: ProviderClient, penalty: string, retryAfterMs: number | null): void {
  const until = link.timeline.now + (retryAfterMs ?? 60_000)
  client.penalties.set(penalty, Math.max(until, client.penalties.get(penalty) ?? 0))
  link.log(`penalty for ${penalty}: ${(until - link.timeline.now) / 1000} s`)
}

function readCourse<T>(
  link: ProviderLink,
  accessToken: string,
  group: 'light' | 'threads',
  down: boolean,
  serve: () => T,
): Course<T> {
  const { random, provider } = link
  const handle = (): ProviderResult<T> => provider.refusal(accessToken, group, false) ?? { ok: true, value: serve() }
  if (!down)
    return {
      handleAfterMs: random.ms(5, 200),
      handle,
      answerAfterMs: random.chance(0.9) ? random.ms(200, 400) : random.ms(1000, 14_000),
    }
  const failure = random.pick([refused('unreachable', null), refused('ambiguous', 502), refused('unavailable', 503)])
  return { handleAfterMs: null, handle, answerAfterMs: random.chance(0.8) ? random.ms(5, 500) : null, answer: failure }
}

function smsCourse(
  link: ProviderLink,
  accessToken: string,
  extensionId: string,
  message: OutboundSms,
  attempt: AttemptRef,
  fate: SmsFate,
): Course<SmsAnswer> {
  const { random, provider, lateMs, timeoutMs } = link
  const handle = (): ProviderResult<SmsAnswer> => {
    const refusal = provider.refusal(accessToken, 'medium', fate === 'limited')
    if (refusal !== null) return refusal
    if (fate === 'unavailable') return refused('unavailable', 503)
    if (fate === 'rejected') return refused('rejected', 400)
    const record = provider.accept(extensionId, message, attempt, fate === 'marked_failed' ? 'SendingFailed' : 'Queued')
    link.log(`provider accepts ${attempt.messageId} as ${record.providerMessageId}`)
    return {
      ok: true,
      value: {
        providerMessageId: record.providerMessageId,
        failed: fate === 'marked_failed',
        ownerId: provider.queueOf(message.from),
      },
    }
  }
  const soon = random.ms(5, 300)
  const course = (
    handleAfterMs: number | null,
    answerAfterMs: number | null,
    answer?: ProviderResult<SmsAnswer>,
  ): Course<SmsAnswer> => ({ handleAfterMs, handle, answerAfterMs, ...(answer === undefined ? {} : { answer }) })
  const cut = refused('ambiguous', null)
  // The request is handled, but the gateway gets another answer.
  const untold = (handleAfterMs: number, answerAfterMs: number | null, answer = cut): Course<SmsAnswer> => ({
    handleAfterMs,
    answerAfterMs,
    handle,
    answer,
  })
  switch (fate) {
    case 'slow':
      return course(random.ms(100, 7000), random.ms(7000, timeoutMs - 500))
    case 'lost':
      return untold(random.ms(5, timeoutMs), null)
    case 'reset':
      return untold(soon, soon + random.ms(0, 2000))
    case 'bad_gateway':
      return untold(soon, soon + random.ms(0, 2000), refused('ambiguous', 502))
    case 'unreadable':
      return untold(soon, soon + random.ms(0, 2000), refused('ambiguous', 200))
    case 'late_timeout':
      return untold(timeoutMs + random.ms(0, lateMs.settle), null)
    case 'late_reset':
      return untold(soon + random.ms(0, lateMs.settle), soon)
    case 'late_bad_gateway':
      return untold(soon + random.ms(0, lateMs.settle5xx), soon, refused('ambiguous', 502))
    case 'dropped_timeout':
      return course(null, null)
    case 'dropped_reset':
      return course(null, soon, cut)
    case 'dropped_bad_gateway':
      return course(null, soon, refused('ambiguous', 502))
    case 'turned_away':
      return course(null, soon, refused('intercepted', 403))
    case 'unreachable':
      return course(null, soon, refused('unreachable', null))
    default:
      return course(soon, soon + random.ms(0, 300))
  }
}
