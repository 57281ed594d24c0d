import type { DeliveryAttempt, Message, Timeline } from '../../../client/client.ts'
import { messageIdOf } from '../messages/row.ts'
import { shortWaitingText } from '../messages/wait-words.ts'
import { isCancelled } from '../messages/words.ts'
import { type Attempt, isRunning } from '../parts/running.ts'
import { now } from '../state/clock.ts'
import { type StepDetail, detailOf, eventResult, json, webhookDetail } from './step-detail.ts'
import type { SimulatorCall } from './simulator.ts'
import type { HeardEvent, OwnSend, TracedConversation } from './traced-conversation.ts'

export const STATIONS = ['Your app', 'Gateway', 'RingCentral', 'Phone'] as const

/** One step of a text on its way. A hop goes from a station to the next one; `at` is in milliseconds. */
export interface Step {
  key: string
  at: number
  kind: 'hop' | 'back' | 'self' | 'wait'
  /** The left one of a hop's two stations, or the station of any other step. */
  station: 0 | 1 | 2
  title: string
  /** The text after the title, such as a status. */
  result?: string
  /** How long this step alone took, in milliseconds; none of a moment, and while it runs. */
  took?: number | null
  isBad?: boolean
  detail?: StepDetail | undefined
}

type Known = Pick<Step, 'result' | 'took' | 'isBad' | 'detail'>

const step =
  (kind: Step['kind'], station: Step['station']) =>
  (key: string, at: number, title: string, known: Known = {}): Step => ({ key, at, kind, station, title, ...known })

const appCalls = step('hop', 0)
const gatewayCalls = step('hop', 1)
const toPhone = step('hop', 2)
const toApp = step('back', 0)
const toGateway = step('back', 1)
const fromPhone = step('back', 2)
const inGateway = step('self', 1)
const waits = step('wait', 1)

/** The steps of one message, in the order in which they began; if two began together, the shorter one comes first. */
export function stepsOf(message: Message, { calls, timelines, webhooks, sends, heard }: TracedConversation): Step[] {
  const { messageId, direction } = message
  const own = heard.value.filter(({ event }) => messageIdOf(event) === messageId && isOutcome(event))
  const steps =
    direction === 'inbound'
      ? inboundSteps(message, webhooks.value.get(messageId) ?? [], calls.value)
      : outboundSteps(message, sends.value.get(messageId), timelines.value.get(messageId), calls.value)
  return [...steps, ...own.map(heardStep)].toSorted((a, b) => a.at - b.at || (a.took ?? 0) - (b.took ?? 0))
}

function outboundSteps(
  message: Message,
  send: OwnSend | undefined,
  timeline: Timeline | undefined,
  calls: readonly SimulatorCall[],
): Step[] {
  const { waiting, messageId } = message
  const created = Date.parse(message.createdAt)
  const steps = send === undefined ? [] : [sendStep(messageId, send)]
  steps.push(inGateway('queued', created, 'committed to disk, queued'))
  const attempts = timeline?.entries.filter((entry) => entry.type === 'attempt') ?? []
  const last = attempts.at(-1)
  if (timeline !== undefined) steps.push(...attemptSteps(created, timeline, attempts, calls))
  if (waiting) steps.push(waits('hold', last ? endOf(last) : created, shortWaitingText(waiting, now.peek())))
  return [...steps, ...(timeline === undefined ? [] : endSteps(timeline, last, calls))]
}

const sendStep = (messageId: string, { at, ms, request, response }: OwnSend): Step =>
  appCalls('send', at, 'POST /v1/sms/send', {
    result: '202',
    took: ms,
    detail: { title: `POST /v1/sms/send, ${messageId}`, request: json(request), response: `202\n\n${json(response)}` },
  })

/** A shorter time before the first attempt is not a wait. */
const SHOWN_WAIT_MS = 1000

const attemptSteps = (
  created: number,
  timeline: Timeline,
  attempts: readonly Attempt[],
  calls: readonly SimulatorCall[],
): Step[] =>
  attempts.flatMap((attempt, index) => {
    const before = attempts[index - 1]
    const at = Date.parse(attempt.at)
    const key = `wait ${attempt.number}`
    const made = attemptStep(attempt, isRunning(timeline, attempt) ? 'runs' : callAt(calls, at))
    if (before !== undefined) return [waitStep(key, endOf(before), at, whyRepeated(before, calls)), made]
    const why = attempt.heldBy ? 'waits: the extension is paused' : 'waits for its turn'
    return at - created < SHOWN_WAIT_MS ? made : [waitStep(key, created, at, why), made]
  })

function attemptStep({ number, at, durationMs, outcome, httpStatus }: Attempt, call?: SimulatorCall | 'runs'): Step {
  const title = `attempt ${number}`
  if (call === 'runs') return gatewayCalls(title, Date.parse(at), title, { result: call })
  const status = httpStatus ?? call?.response?.status ?? (outcome === 'accepted' ? 'accepted' : 'no answer')
  return gatewayCalls(title, Date.parse(at), title, {
    result: `${status}`,
    took: durationMs,
    isBad: outcome !== 'accepted',
    detail: call && detailOf('Call to RingCentral', call),
  })
}

/** When an attempt ended, or began if it has no end. */
const endOf = ({ at, durationMs }: Attempt): number => Date.parse(at) + (durationMs ?? 0)

const waitStep = (key: string, at: number, until: number, title: string): Step =>
  waits(key, at, title, { took: Math.max(0, until - at) })

/** What it waited for between two attempts: the end of a pause that RingCentral asked for, or of a search of its message store. */
function whyRepeated(before: Attempt, calls: readonly SimulatorCall[]): string {
  if (before.outcome === 'unknown') return 'asks the message store before it repeats'
  const retryAfter = new Headers(callAt(calls, Date.parse(before.at))?.response?.headers).get('retry-after')
  return retryAfter === null ? 'waits before it repeats' : `paused, Retry-After ${retryAfter} s`
}

/** A call belongs to an attempt if it began within this time of it. */
const SAME_CALL_MS = 1500

/** The call that sent a text at about this time. */
function callAt(calls: readonly SimulatorCall[], at: number): SimulatorCall | undefined {
  const farOf = (call: SimulatorCall): number => Math.abs(Date.parse(call.at) - at)
  return calls
    .filter((call) => call.direction === 'out' && call.route === 'sms' && farOf(call) < SAME_CALL_MS)
    .toSorted((a, b) => farOf(a) - farOf(b))[0]
}

/** What happened to a text after its last attempt. From RingCentral to the phone it takes until the gateway knows its fate. */
function endSteps({ entries, deliveryStatus }: Timeline, last: Attempt | undefined, calls: readonly SimulatorCall[]) {
  let sentAt = 0
  const steps = entries.flatMap((entry): Step | Step[] => {
    const at = Date.parse(entry.at)
    const from = sentAt || at
    const took = at - from
    if (entry.type === 'delivered') return toPhone('delivery', from, 'delivered', { result: 'known after', took })
    if (entry.type === 'undelivered')
      return toPhone('delivery', from, 'not delivered', { result: entry.errorCode ?? '', took, isBad: true })
    if (entry.type === 'failed')
      return isCancelled(entry.error)
        ? inGateway('failed', at, 'cancelled')
        : inGateway('failed', at, `failed: ${entry.error ?? ''}`, { isBad: true })
    if (entry.type !== 'sent') return []
    sentAt = at
    return last?.outcome === 'unknown' ? lookupSteps(last, at, calls) : []
  })
  if (deliveryStatus === 'pending' && sentAt > 0) steps.push(toPhone('delivery', sentAt, 'on its way'))
  return steps
}

/** An answer that did not tell whether the text was accepted: after a while, the gateway finds it in the message store. */
function lookupSteps(attempt: Attempt, sentAt: number, calls: readonly SimulatorCall[]): Step[] {
  const call = calls.findLast(({ route, at }) => route === 'message-store' && Date.parse(at) <= sentAt)
  const at = call === undefined ? sentAt : Date.parse(call.at)
  const detail = call && detailOf('Look into the message store', call)
  return [
    waitStep('wait lookup', endOf(attempt), at, 'waits before it asks the message store'),
    gatewayCalls('lookup', at, 'message store', { result: 'found', took: call?.durationMs ?? null, detail }),
  ]
}

function inboundSteps(message: Message, webhooks: readonly DeliveryAttempt[], calls: readonly SimulatorCall[]): Step[] {
  const event = calls.find((call) => call.rcMessageId === message.rcMessageId && call.direction === 'in')
  const at = Date.parse(event?.at ?? message.createdAt)
  const steps = [fromPhone('text', at - 1, 'text'), ...webhooks.map(webhookStep)]
  if (event === undefined) return steps
  const detail = detailOf('Event from RingCentral', event)
  return [...steps, toGateway('event', at, 'event', { result: eventResult(event), took: event.durationMs, detail })]
}

const webhookStep = (attempt: DeliveryAttempt): Step =>
  toApp(`webhook ${attempt.deliveryId} ${attempt.attemptNumber}`, Date.parse(attempt.attemptedAt), 'webhook', {
    result: `${attempt.statusCode ?? 'no answer'}, signed`,
    took: attempt.durationMs,
    isBad: attempt.outcome !== 'success',
    detail: webhookDetail(attempt),
  })

/** `queued` and `sending` are already shown at the gateway. */
const isOutcome = (event: HeardEvent['event']): boolean =>
  event.type !== 'sms_status' || event.status === 'sent' || event.status === 'failed'

function heardStep({ at, event }: HeardEvent): Step {
  const state = event.type === 'sms_status' ? event.status : event.type === 'sms_delivery' ? event.deliveryStatus : ''
  // The browser's clock can be behind the gateway's.
  const sentAt = 'timestamp' in event ? Math.min(at, Date.parse(event.timestamp)) : at
  return toApp(`${event.type} ${state}`, sentAt, event.type, {
    result: state,
    took: 'timestamp' in event ? at - sentAt : null,
    isBad: state === 'undelivered' || (event.type === 'sms_status' && state === 'failed' && !isCancelled(event.error)),
    detail: { title: 'WebSocket event', request: json(event), response: null },
  })
}
