import type { DeliveryAttempt, Message, Timeline } from '../../../client/client.ts'
import { messageIdOf } from '../messages/row.ts'
import { isCancelled, shortWaitingText } from '../messages/words.ts'
import { now } from '../state/clock.ts'
import type { SimulatorCall } from './simulator.ts'
import { type Attempt, isRunning } from '../parts/running.ts'
import type { TracedConversation } from './traced-conversation.ts'
import type { HeardEvent, OwnSend } from './measured.ts'
import { type StepDetail, detailOf, eventResult, json, webhookDetail } from './step-detail.ts'

/** The stations, from left to right. */
export const STATIONS = ['Your app', 'Gateway', 'RingCentral', 'Phone'] as const

/** One step of a text on its way. A hop goes from a station to the next one; `at` is in milliseconds. */
export interface Step {
  key: string
  at: number
  kind: 'hop' | 'back' | 'self' | 'wait'
  /** The left one of the two stations of a hop, or the station of the others. */
  station: 0 | 1 | 2
  title: string
  /** What stands after the title, such as a status. */
  result: string
  /** How long this step alone took, in milliseconds; null for a moment, and while it runs. */
  took: number | null
  isBad: boolean
  detail: StepDetail | null
}

/** The steps of one message, in the order in which they began; of two that began together the shorter one first. */
export function stepsOf(message: Message, conversation: TracedConversation): Step[] {
  const { calls, timelines, sends } = conversation
  const own = conversation.heard.value.filter(({ event }) => messageIdOf(event) === message.messageId)
  const steps =
    message.direction === 'inbound'
      ? inboundSteps(message, conversation.webhooks.value.get(message.messageId) ?? [], calls.value)
      : outboundSteps(message, sends.value.get(message.messageId), timelines.value.get(message.messageId), calls.value)
  return [...steps, ...own.filter(isOutcome).map(heardStep)].toSorted(
    (a, b) => a.at - b.at || (a.took ?? 0) - (b.took ?? 0),
  )
}

function outboundSteps(
  message: Message,
  send: OwnSend | undefined,
  timeline: Timeline | undefined,
  calls: readonly SimulatorCall[],
): Step[] {
  const created = Date.parse(message.createdAt)
  const steps: Step[] = send === undefined ? [] : [sendStep(message, send)]
  steps.push({ ...base('queued', created), kind: 'self', station: 1, title: 'committed to disk, queued' })
  const attempts = timeline?.entries.filter((entry) => entry.type === 'attempt') ?? []
  attempts.forEach((attempt, index) => {
    const before = attempts[index - 1]
    if (before !== undefined) steps.push(waitStep(before, attempt, calls))
    else if (Date.parse(attempt.at) - created >= SHOWN_WAIT_MS)
      steps.push({ ...pauseStep('wait 1', created, Date.parse(attempt.at)), title: 'waits for its turn' })
    const call = callAt(calls, 'sms', Date.parse(attempt.at))
    steps.push(timeline && isRunning(timeline, attempt) ? runningStep(attempt) : attemptStep(attempt, call))
  })
  const last = attempts.at(-1)
  if (message.waiting) steps.push(holdStep(message, last === undefined ? created : endOf(last)))
  return [...steps, ...(timeline === undefined ? [] : endSteps(timeline, last, calls))]
}

/** What became of a text after its last attempt. */
function endSteps({ entries, deliveryStatus }: Timeline, last: Attempt | undefined, calls: readonly SimulatorCall[]) {
  const steps: Step[] = []
  let sentAt = 0
  for (const entry of entries) {
    const at = Date.parse(entry.at)
    if (entry.type === 'sent') sentAt = at
    if (entry.type === 'sent' && last?.outcome === 'unknown') steps.push(...lookupSteps(last, at, calls))
    if (entry.type === 'delivered')
      steps.push({ ...deliveryStep(sentAt || at, at), title: 'delivered', result: 'known after' })
    if (entry.type === 'undelivered')
      steps.push({
        ...deliveryStep(sentAt || at, at),
        title: 'not delivered',
        result: entry.errorCode ?? '',
        isBad: true,
      })
    if (entry.type === 'failed')
      steps.push({
        ...base('failed', at),
        kind: 'self',
        station: 1,
        title: isCancelled(entry.error) ? 'cancelled' : `failed: ${entry.error ?? ''}`,
        isBad: !isCancelled(entry.error),
      })
  }
  if (deliveryStatus === 'pending' && sentAt > 0) steps.push({ ...deliveryStep(sentAt, null), title: 'on its way' })
  return steps
}

/** From RingCentral to the phone: from the time of `sent` until the gateway knows what became of it. */
const deliveryStep = (sentAt: number, knownAt: number | null): Omit<Step, 'title'> => ({
  ...base('delivery', sentAt),
  kind: 'hop',
  station: 2,
  took: knownAt === null ? null : knownAt - sentAt,
})

function inboundSteps(message: Message, webhooks: readonly DeliveryAttempt[], calls: readonly SimulatorCall[]): Step[] {
  const stored = Date.parse(message.createdAt)
  const event = calls.find((call) => call.rcMessageId === message.rcMessageId && call.direction === 'in')
  const at = event === undefined ? stored : Date.parse(event.at)
  const steps: Step[] = [{ ...base('text', at - 1), kind: 'back', station: 2, title: 'text' }]
  if (event !== undefined)
    steps.push({
      ...base('event', at),
      kind: 'back',
      station: 1,
      title: 'event',
      result: eventResult(event),
      took: event.durationMs,
      detail: detailOf('Event from RingCentral', event),
    })
  return [...steps, ...webhooks.map((attempt) => webhookStep(message, attempt))]
}

const webhookStep = (message: Message, attempt: DeliveryAttempt): Step => ({
  ...base(`webhook ${attempt.deliveryId} ${attempt.attemptNumber}`, Date.parse(attempt.attemptedAt)),
  kind: 'back',
  station: 0,
  title: 'webhook',
  result: `${attempt.statusCode ?? 'no answer'}, signed`,
  took: attempt.durationMs,
  isBad: attempt.outcome !== 'success',
  detail: webhookDetail(message, attempt),
})

const base = (key: string, at: number) =>
  ({ key, at, result: '', took: null, isBad: false, detail: null }) satisfies Partial<Step>

const sendStep = ({ messageId }: Message, { at, ms, request, response }: OwnSend): Step => ({
  ...base('send', at),
  kind: 'hop',
  station: 0,
  title: 'POST /v1/sms/send',
  result: '202',
  took: ms,
  detail: { title: `POST /v1/sms/send, ${messageId}`, request: json(request), response: `202\n\n${json(response)}` },
})

function attemptStep(attempt: Attempt, call: SimulatorCall | undefined): Step {
  const { number, at, durationMs, outcome, httpStatus } = attempt
  const status = httpStatus ?? call?.response?.status ?? (outcome === 'accepted' ? 'accepted' : 'no answer')
  return {
    ...base(`attempt ${number}`, Date.parse(at)),
    kind: 'hop',
    station: 1,
    title: `attempt ${number}`,
    result: String(status),
    isBad: outcome !== 'accepted',
    took: durationMs,
    detail: call === undefined ? null : detailOf('Call to RingCentral', call),
  }
}

/** When an attempt ended, or began if it has no end. */
const endOf = ({ at, durationMs }: Attempt): number => Date.parse(at) + (durationMs ?? 0)

/** An answer that did not tell whether the text was taken: after a while the gateway finds it in the message store. */
function lookupSteps(attempt: Attempt, sentAt: number, calls: readonly SimulatorCall[]): Step[] {
  const call = calls.findLast(({ route, at }) => route === 'message-store' && Date.parse(at) <= sentAt)
  const [from, until] = [endOf(attempt), call === undefined ? sentAt : Date.parse(call.at)]
  const wait = { ...pauseStep('wait lookup', from, until), title: 'waits before it asks the message store' }
  const lookup: Step = {
    ...base('lookup', until),
    kind: 'hop',
    station: 1,
    title: 'message store',
    result: 'found',
    took: call?.durationMs ?? null,
    detail: call === undefined ? null : detailOf('Look into the message store', call),
  }
  return [wait, lookup]
}

/** A shorter time before the first attempt is no wait. */
const SHOWN_WAIT_MS = 1000

const pauseStep = (key: string, from: number, until: number): Omit<Step, 'title'> => ({
  ...base(key, from),
  kind: 'wait',
  station: 1,
  took: Math.max(0, until - from),
})

/** Between two attempts: a pause that RingCentral asked for, or a look into its message store. */
function waitStep(before: Attempt, next: Attempt, calls: readonly SimulatorCall[]): Step {
  const headers = callAt(calls, 'sms', Date.parse(before.at))?.response?.headers ?? {}
  const [, retryAfter] = Object.entries(headers).find(([name]) => name.toLowerCase() === 'retry-after') ?? []
  const title =
    before.outcome === 'unknown'
      ? 'asks the message store before it repeats'
      : retryAfter === undefined
        ? 'waits before it repeats'
        : `paused, Retry-After ${retryAfter} s`
  return { ...pauseStep(`wait ${next.number}`, endOf(before), Date.parse(next.at)), title }
}

const runningStep = ({ at, number }: Attempt): Step => ({
  ...base(`attempt ${number}`, Date.parse(at)),
  kind: 'hop',
  station: 1,
  title: `attempt ${number}`,
  result: 'runs',
})

/** What a message waits for now. */
const holdStep = ({ waiting }: Message, from: number): Step => ({
  ...base('hold', from),
  kind: 'wait',
  station: 1,
  title: waiting ? shortWaitingText(waiting, now.peek()) : '',
})

/** A call belongs to an attempt if it began within this time of it. */
const SAME_CALL_MS = 1500

const callAt = (calls: readonly SimulatorCall[], route: string, at: number): SimulatorCall | undefined =>
  calls
    .filter(
      (call) => call.direction === 'out' && call.route === route && Math.abs(Date.parse(call.at) - at) < SAME_CALL_MS,
    )
    .toSorted((a, b) => Math.abs(Date.parse(a.at) - at) - Math.abs(Date.parse(b.at) - at))[0]

/** `queued` and `sending` stand at the gateway already. */
const isOutcome = ({ event }: HeardEvent): boolean =>
  event.type !== 'sms_status' || event.status === 'sent' || event.status === 'failed'

function heardStep({ at, event }: HeardEvent): Step {
  const state = event.type === 'sms_status' ? event.status : event.type === 'sms_delivery' ? event.deliveryStatus : ''
  // The browser's clock can be behind the gateway's.
  const sentAt = 'timestamp' in event ? Math.min(at, Date.parse(event.timestamp)) : at
  return {
    ...base(`${event.type} ${state}`, sentAt),
    kind: 'back',
    station: 0,
    title: event.type,
    result: state,
    took: 'timestamp' in event ? at - sentAt : null,
    isBad: state === 'undelivered' || (event.type === 'sms_status' && state === 'failed' && !isCancelled(event.error)),
    detail: { title: 'WebSocket event', request: json(event), response: null },
  }
}
