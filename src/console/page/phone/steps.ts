import type { DeliveryAttempt, Message, Timeline } from '../../../client/client.ts'
import { messageIdOf } from '../messages/row.ts'
import { shortWaitingText } from '../messages/wait-words.ts'
import { isCancelled } from '../messages/words.ts'
import { now } from '../state/clock.ts'
import type { SimulatorCall } from './simulator.ts'
import type { Attempt } from '../parts/running.ts'
import { attemptSteps, endOf, lookupSteps } from './attempt-steps.ts'
import type { TracedConversation } from './traced-conversation.ts'
import type { HeardEvent, OwnSend } from './measured.ts'
import { type Step, base } from './step.ts'
import { detailOf, eventResult, json, webhookDetail } from './step-detail.ts'

/** The steps of one message, in the order in which they began; if two began together, the shorter one comes first. */
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
  if (timeline !== undefined) steps.push(...attemptSteps(created, timeline, attempts, calls))
  const last = attempts.at(-1)
  if (message.waiting) steps.push(holdStep(message, last === undefined ? created : endOf(last)))
  return [...steps, ...(timeline === undefined ? [] : endSteps(timeline, last, calls))]
}

/** What happened to a text after its last attempt. */
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

/** From RingCentral to the phone: from the time of `sent` until the gateway knows what happened. */
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
  return [...steps, ...webhooks.map(webhookStep)]
}

const webhookStep = (attempt: DeliveryAttempt): Step => ({
  ...base(`webhook ${attempt.deliveryId} ${attempt.attemptNumber}`, Date.parse(attempt.attemptedAt)),
  kind: 'back',
  station: 0,
  title: 'webhook',
  result: `${attempt.statusCode ?? 'no answer'}, signed`,
  took: attempt.durationMs,
  isBad: attempt.outcome !== 'success',
  detail: webhookDetail(attempt),
})

const sendStep = ({ messageId }: Message, { at, ms, request, response }: OwnSend): Step => ({
  ...base('send', at),
  kind: 'hop',
  station: 0,
  title: 'POST /v1/sms/send',
  result: '202',
  took: ms,
  detail: { title: `POST /v1/sms/send, ${messageId}`, request: json(request), response: `202\n\n${json(response)}` },
})

/** What a message waits for now. */
const holdStep = ({ waiting }: Message, from: number): Step => ({
  ...base('hold', from),
  kind: 'wait',
  station: 1,
  title: waiting ? shortWaitingText(waiting, now.peek()) : '',
})

/** `queued` and `sending` are already shown at the gateway. */
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
