import type { SmsAnswer, OutboundSms, Provider, ProviderResult } from '../../src/provider/provider.ts'
import type { QuotaGroup } from '../../src/provider/quota.ts'
import { type AttemptRef, type ModelProvider, refused } from './model-provider.ts'
import type { Random } from './random.ts'
import type { Owner, Timeline } from './timeline.ts'

/** How a send may go. `late_…`: the gateway has long been told of a failure when the provider accepts. */
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
  | 'limited'
  | 'rejected'

export type Fates = Partial<Record<SmsFate, number>>

/** One run of the process, as the provider's side of the wire knows it. */
export interface Caller extends Owner {
  /** Group and extension → until when this run knows that it must be silent. */
  penalties: Map<string, number>
  /** Requests that the provider has not handled yet. */
  underWay: Set<Request>
}

interface Request {
  handle(): void
  cancel(): void
  handleAt: number
  /** A token request that outlives its process is not kept waiting: the next run would meet its effect at random. */
  isRefresh: boolean
}

export interface Wire {
  timeline: Timeline
  random: Random
  provider: ModelProvider
  /** The attempt that a send belongs to; says so when there is none. */
  attemptOf(message: OutboundSms): Promise<AttemptRef>
  fates(): Fates
  /** How much later than the gateway's verdict the provider may accept: just less than the settle times. */
  lateMs: { settle: number; settle5xx: number }
  timeoutMs: number
  /** How far the provider's clock is behind ours: its `Date` tells, and the real port makes up for it. */
  lagMs(): number
  /** What the provider's `Date` tells of our steady clock; null where no answer has come. */
  skewMs(): number | null
  log(text: string): void
  violated(text: string): void
}

/** What happens to one request, milliseconds after its start. No answer: the gateway's own time limit ends it. */
interface Course<T> {
  handleAfterMs: number | null
  handle(): ProviderResult<T>
  answerAfterMs: number | null
  /** Instead of what handling answered. */
  answer?: ProviderResult<T>
}

/** The provider's port for one run of the process. */
export function providerPort(wire: Wire, caller: Caller): Provider {
  const { provider, random } = wire
  const refuse = (): never => {
    throw new Error('This call is not part of the simulation')
  }
  const light = <T>(
    accessToken: string,
    down: boolean,
    serve: (extensionId: string) => T,
  ): Promise<ProviderResult<T>> => {
    const extensionId = provider.extensionOf(accessToken)
    checkSilence(wire, caller, 'light', extensionId)
    return ask(
      wire,
      caller,
      `light:${extensionId}`,
      lightCourse(wire, accessToken, down, () => serve(extensionId)),
    )
  }
  return {
    clockSkewMs: () => wire.skewMs(),
    authorizeUrl: refuse,
    exchangeCode: refuse,
    getExtension: refuse,
    createSubscription: refuse,
    getSubscription: refuse,
    renewSubscription: refuse,
    deleteSubscription: refuse,
    parseInboundEvent: refuse,
    probeAuthorize: refuse,
    fixOf: () => 'Wait.',
    isStanding: () => false,
    refresh: (refreshToken) =>
      ask(wire, caller, null, {
        handleAfterMs: random.ms(5, 200),
        handle: () => {
          const result = provider.refresh(refreshToken)
          wire.log(`refresh with ${refreshToken}: ${result.ok ? result.value.refreshToken : result.failure.reason}`)
          return result
        },
        answerAfterMs: random.chance(0.9) ? random.ms(200, 400) : null,
      }),
    revoke: (refreshToken) =>
      ask(wire, caller, null, {
        handleAfterMs: 1,
        handle: () => ({ ok: true, value: provider.revoke(refreshToken) }),
        answerAfterMs: 2,
      }),
    listSubscriptions: (accessToken) => light(accessToken, false, () => []),
    listSmsNumbers: (accessToken) =>
      light(accessToken, false, (extensionId) => [...(provider.numbers.get(extensionId) ?? [])]),
    listMessages: (accessToken, query) =>
      light(accessToken, wire.timeline.now < provider.storeDownUntil, (extensionId) =>
        provider.list(extensionId, query.direction, query.since - wire.lagMs()),
      ),
    async sendSms(accessToken, message) {
      const extensionId = provider.extensionOf(accessToken)
      checkSilence(wire, caller, 'medium', extensionId)
      const attempt = await wire.attemptOf(message)
      const fate = random.weighted(wire.fates())
      wire.log(`call ${fate} for ${attempt.messageId} ${attempt.attemptId}`)
      return ask(
        wire,
        caller,
        `medium:${extensionId}`,
        smsCourse(wire, accessToken, extensionId, message, attempt, fate),
      )
    },
  }
}

function checkSilence(wire: Wire, caller: Caller, group: QuotaGroup, extensionId: string): void {
  const until = caller.penalties.get(`${group}:${extensionId}`) ?? 0
  if (wire.timeline.now < until)
    wire.violated(
      `a ${group} request of ${extensionId} went out ${until - wire.timeline.now} ms before the end of its 429 penalty`,
    )
}

/** The provider's side runs on whatever becomes of the caller; its answer finds the caller alive, or nobody. */
function ask<T>(wire: Wire, caller: Caller, penalty: string | null, course: Course<T>): Promise<ProviderResult<T>> {
  const { timeline } = wire
  return new Promise((resolve) => {
    let answer = course.answer ?? null
    const handle = (): void => {
      const handled = course.handle()
      answer ??= handled
    }
    if (course.handleAfterMs !== null) underWay(wire, caller, course.handleAfterMs, penalty === null, handle)
    let settled = false
    const settle = (result: ProviderResult<T>): void => {
      if (settled) return
      settled = true
      if (penalty !== null && !result.ok && result.failure.reason === 'rate_limited')
        notePenalty(wire, caller, penalty, result.failure.retryAfterMs)
      resolve(result)
    }
    const { answerAfterMs } = course
    if (answerAfterMs !== null)
      timeline.after(caller, answerAfterMs, () => settle(answer ?? refused('ambiguous', null)))
    timeline.after(caller, wire.timeoutMs, () => settle(refused('ambiguous', null)))
  })
}

function underWay(wire: Wire, caller: Caller, delayMs: number, isRefresh: boolean, handle: () => void): void {
  const { timeline } = wire
  const request: Request = {
    isRefresh,
    handleAt: timeline.now + delayMs,
    handle: () => {
      caller.underWay.delete(request)
      handle()
    },
    cancel: timeline.after(null, delayMs, () => request.handle()),
  }
  caller.underWay.add(request)
}

/** What a process that has just died had under way: handled or not, at the latest before the settle time of its successor. */
export function orphan(wire: Wire, caller: Caller): void {
  for (const request of caller.underWay) {
    request.cancel()
    if (!request.isRefresh)
      wire.timeline.after(
        null,
        Math.min(request.handleAt - wire.timeline.now, wire.random.ms(0, wire.lateMs.settle)),
        request.handle,
      )
    else if (wire.random.chance(0.5)) request.handle()
  }
}

function notePenalty(wire: Wire, caller: Caller, penalty: string, retryAfterMs: number | null): void {
  const until = wire.timeline.now + (retryAfterMs ?? 60_000)
  caller.penalties.set(penalty, Math.max(until, caller.penalties.get(penalty) ?? 0))
  wire.log(`penalty for ${penalty}: ${(until - wire.timeline.now) / 1000} s`)
}

function lightCourse<T>(wire: Wire, accessToken: string, down: boolean, serve: () => T): Course<T> {
  const { random, provider } = wire
  const handle = (): ProviderResult<T> => provider.refusal(accessToken, 'light', false) ?? { ok: true, value: serve() }
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
  wire: Wire,
  accessToken: string,
  extensionId: string,
  message: OutboundSms,
  attempt: AttemptRef,
  fate: SmsFate,
): Course<SmsAnswer> {
  const { random, provider, lateMs, timeoutMs } = wire
  const handle = (): ProviderResult<SmsAnswer> => {
    const refusal = provider.refusal(accessToken, 'medium', fate === 'limited')
    if (refusal !== null) return refusal
    if (fate === 'unavailable') return refused('unavailable', 503)
    if (fate === 'rejected') return refused('rejected', 400)
    const record = provider.accept(extensionId, message, attempt, fate === 'marked_failed' ? 'SendingFailed' : 'Queued')
    wire.log(`provider accepts ${attempt.messageId} as ${record.providerMessageId}`)
    return { ok: true, value: { providerMessageId: record.providerMessageId, failed: fate === 'marked_failed' } }
  }
  const soon = random.ms(5, 300)
  const course = (
    handleAfterMs: number | null,
    answerAfterMs: number | null,
    answer?: ProviderResult<SmsAnswer>,
  ): Course<SmsAnswer> => ({ handleAfterMs, handle, answerAfterMs, ...(answer === undefined ? {} : { answer }) })
  const cut = refused('ambiguous', null)
  // Handled, but the gateway is told something else.
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
    case 'unreachable':
      return course(null, soon, refused('unreachable', null))
    default:
      return course(soon, soon + random.ms(0, 300))
  }
}
