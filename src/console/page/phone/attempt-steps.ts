import type { Timeline } from '../../../client/client.ts'
import { type Attempt, isRunning } from '../parts/running.ts'
import type { SimulatorCall } from './simulator.ts'
import { type Step, base } from './step.ts'
import { detailOf } from './step-detail.ts'

/** The attempts of a message, and the waits before them. */
export function attemptSteps(
  created: number,
  timeline: Timeline,
  attempts: readonly Attempt[],
  calls: readonly SimulatorCall[],
): Step[] {
  const steps: Step[] = []
  attempts.forEach((attempt, index) => {
    const before = attempts[index - 1]
    const at = Date.parse(attempt.at)
    if (before !== undefined) steps.push(waitStep(before, attempt, calls))
    else if (at - created >= SHOWN_WAIT_MS)
      steps.push({
        ...pauseStep('wait 1', created, at),
        title: attempt.heldBy ? 'waits: the extension is paused' : 'waits for its turn',
      })
    steps.push(isRunning(timeline, attempt) ? runningStep(attempt) : attemptStep(attempt, callAt(calls, 'sms', at)))
  })
  return steps
}

/** A shorter time before the first attempt is not a wait. */
const SHOWN_WAIT_MS = 1000

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
export const endOf = ({ at, durationMs }: Attempt): number => Date.parse(at) + (durationMs ?? 0)

/** An answer that did not tell whether the text was accepted: after a while, the gateway finds it in the message store. */
export function lookupSteps(attempt: Attempt, sentAt: number, calls: readonly SimulatorCall[]): Step[] {
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

const pauseStep = (key: string, from: number, until: number): Omit<Step, 'title'> => ({
  ...base(key, from),
  kind: 'wait',
  station: 1,
  took: Math.max(0, until - from),
})

/** Between two attempts: a pause that RingCentral asked for, or a search of its message store. */
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

/** A call belongs to an attempt if it began within this time of it. */
const SAME_CALL_MS = 1500

const callAt = (calls: readonly SimulatorCall[], route: string, at: number): SimulatorCall | undefined =>
  calls
    .filter(
      (call) => call.direction === 'out' && call.route === route && Math.abs(Date.parse(call.at) - at) < SAME_CALL_MS,
    )
    .toSorted((a, b) => Math.abs(Date.parse(a.at) - at) - Math.abs(Date.parse(b.at) - at))[0]
