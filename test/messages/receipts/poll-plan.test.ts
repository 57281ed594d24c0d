import { expect, test } from 'bun:test'
import { PollPlan, TRACKED_MS } from '../../../src/messages/receipts/poll-plan.ts'
import { seededRandom } from '../../../src/simulator/random.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const AGES = [10_000, 30_000, MINUTE_MS, 2 * MINUTE_MS, 5 * MINUTE_MS, 10 * MINUTE_MS, 30 * MINUTE_MS]
for (let hour = 1; hour <= 24; hour++) AGES.push(hour * HOUR_MS)

interface Sent {
  sentAt: number
  /** When the delivery state changes at the provider. Null: never. */
  changedAt: number | null
  knownAt: number | null
}

/** Runs an extension's polls as tracking does, without a clock. Returns the times of the polls. */
function runPolls(messages: readonly Sent[]): number[] {
  const plan = new PollPlan()
  const polls: number[] = []
  for (let now = 0; ;) {
    const open = messages.filter(({ knownAt, sentAt }) => knownAt === null && sentAt <= now)
    plan.setFirstUnpolled(plan.doneUntil.map((time) => firstAfter(open, time)))
    const due = plan.due(now)
    if (due !== null) {
      polls.push(now)
      for (const message of open) if (isSeen(message, due.since, now)) message.knownAt = now
      plan.done(due, now)
      for (const message of open) if (now - message.sentAt >= TRACKED_MS) message.knownAt ??= now
      continue
    }
    const arrivals = messages.map(({ sentAt }) => sentAt).filter((at) => at > now)
    const next = Math.min(plan.nextAt() ?? Infinity, ...arrivals)
    if (next === Infinity) return polls
    now = next
  }
}

const firstAfter = (open: readonly Sent[], time: number): number | null =>
  open.map(({ sentAt }) => sentAt).find((sentAt) => sentAt > time) ?? null

const isSeen = ({ sentAt, changedAt }: Sent, since: number, now: number): boolean =>
  sentAt >= since && changedAt !== null && changedAt <= now

const sent = (sentAt: number, changedAfterMs: number | null): Sent => ({
  sentAt,
  changedAt: changedAfterMs === null ? null : sentAt + changedAfterMs,
  knownAt: null,
})

/** One message every 1.5 s, because an extension may send 40 per minute. */
const steady = (count: number, changedAfterMs: number | null): Sent[] =>
  Array.from({ length: count }, (_, index) => sent(index * 1500, changedAfterMs))

test('a single message is polled at each of its ages, and not after the last', () => {
  expect(runPolls([sent(0, null)])).toEqual(AGES)
})

test('a delivery state is known at the second poll of its message after the change, at the latest', () => {
  const random = seededRandom(20261121)
  for (let round = 0; round < 20; round++) {
    const messages = Array.from({ length: 60 }, () => {
      const changedAfterMs = Math.floor(random() ** 4 * 20 * HOUR_MS)
      return sent(Math.floor(random() ** 3 * 3 * HOUR_MS), random() < 0.2 ? null : changedAfterMs)
    }).toSorted((one, other) => one.sentAt - other.sentAt)
    runPolls(messages)
    for (const { sentAt, changedAt, knownAt } of messages) {
      if (changedAt === null) continue
      const [, second = Infinity] = AGES.filter((age) => sentAt + age >= changedAt)
      expect(knownAt ?? Infinity).toBeLessThanOrEqual(sentAt + second)
    }
  }
})

/** The figures of docs/after-sent.md. */
test.each([
  ['a burst, each known within 10 s', Array.from({ length: 1000 }, () => sent(0, 4000)), 1],
  ['40 a minute, each known within 10 s', steady(1000, 4000), 76],
  ['40 a minute, each known within 25 s', steady(1000, 25_000), 102],
  ['a burst, none ever known', Array.from({ length: 1000 }, () => sent(0, null)), 31],
  ['40 a minute, none ever known', steady(1000, null), 131],
])('provider calls for 1,000 messages of one extension: %s', (_, messages, calls) => {
  expect(runPolls(messages)).toHaveLength(calls)
})

test('after a listing with only a part of the messages, the next one continues where it ended', () => {
  const plan = new PollPlan()
  const times = [0, 1000, 2000]
  const refresh = (): void =>
    plan.setFirstUnpolled(plan.doneUntil.map((time) => times.find((sentAt) => sentAt > time) ?? null))
  refresh()
  const first = plan.due(20_000)
  expect(first).toEqual({ at: 20_000, since: 0 })
  if (first !== null) plan.done(first, 1000)
  refresh()
  expect(plan.due(20_001)).toEqual({ at: 20_001, since: 2000 })
})

test('a listing that failed because of its length is due again', () => {
  const plan = new PollPlan()
  plan.setFirstUnpolled(plan.doneUntil.map(() => 0))
  const due = plan.due(HOUR_MS)
  if (due !== null) plan.done(due, due.since - 1)
  plan.setFirstUnpolled(plan.doneUntil.map(() => 0))
  expect(plan.due(HOUR_MS)).toEqual({ at: HOUR_MS, since: 0 })
})
